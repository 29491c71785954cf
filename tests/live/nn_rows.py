"""Rows of nn_live.py: products, convolutions, normalizations, attention, recurrent layers."""

ROWS = r"""
M | nn.Linear(4,5) | x=f32[b,4] | b=2; b=1; b=7
M | nn.Linear(4,5,bias=False) | x=f32[b,s,4] | b=2,s=3; b=1,s=1
M | nn.Linear(4,5) | x=f32[4] | b=2
M | nn.Linear(4,5).double() | x=f64[b,4] | b=2; b=1 | rounded
M | nn.Linear(4,5).half() | x=f16[b,s,4] | b=2,s=2; b=1,s=5
M | nn.Bilinear(4,5,3) | x=f32[b,4] y=f32[b,5] | b=2; b=1
M | nn.Bilinear(4,5,3,bias=False) | x=f32[b,s,4] y=f32[b,s,5] | b=2,s=3; b=1,s=2
F | torch.matmul(x,y) | x=f32[b,m,k] y=f32[b,k,n] | b=2,m=3,k=4,n=5; b=1,m=1,k=7,n=2
F | torch.matmul(x,y) | x=f32[k] y=f32[k] | k=4; k=7
F | torch.matmul(x,y) | x=f32[m,k] y=f32[k] | k=4,m=3; k=7,m=2
F | torch.matmul(x,y) | x=f32[k] y=f32[b,k,n] | k=4,n=3,b=2; k=7,n=2,b=1
F | torch.matmul(x,y) | x=f32[b,2,m,k] y=f32[k,n] | b=2,m=3,k=4,n=5; b=1,m=6,k=7,n=2
F | torch.matmul(x,y) | x=i64[m,k] y=i64[k,n] | m=3,k=4,n=5; m=6,k=7,n=2
F | torch.matmul(x,y) | x=i32[m,k] y=i32[k,n] | m=3,k=4,n=5; m=6,k=7,n=2
F | torch.matmul(x,y) | x=i8[m,k] y=i8[k,n] | m=3,k=4,n=5; m=6,k=7,n=2
F | torch.mm(x,y) | x=f64[m,k] y=f64[k,n] | m=3,k=4,n=5; m=6,k=7,n=2 | rounded
F | torch.bmm(x,y) | x=f32[b,m,k] y=f32[b,k,n] | b=2,m=3,k=4,n=5; b=4,m=6,k=7,n=2
F | torch.mv(x,y) | x=f32[m,k] y=f32[k] | m=3,k=4; m=6,k=7
F | torch.dot(x,y) | x=f32[k] y=f32[k] | k=4; k=7
F | torch.inner(x,y) | x=f32[b,k] y=f32[c,d,k] | k=4,b=2,c=3,d=4; k=7,b=3,c=2,d=5
F | torch.addmm(z,x,y) | x=f32[m,k] y=f32[k,n] z=f32[n] | m=3,k=4,n=5; m=6,k=7,n=2
F | torch.addmm(z,x,y,beta=0.5,alpha=2) | x=f32[m,k] y=f32[k,n] z=f32[m,n] | m=3,k=4,n=5; m=6,k=7,n=2
F | torch.addmm(z,x,y,beta=2) | x=i64[m,k] y=i64[k,n] z=i64[m,n] | m=3,k=4,n=5; m=6,k=7,n=2
F | torch.addmv(z,x,y,beta=2,alpha=0.5) | x=f32[m,k] y=f32[k] z=f32[m] | m=3,k=4; m=6,k=7
F | torch.baddbmm(z,x,y,alpha=0.5) | x=f32[b,m,k] y=f32[b,k,n] z=f32[b,1,n] | b=2,m=3,k=4,n=5; b=4,m=6,k=7,n=2
F | torch.addbmm(z,x,y,beta=0.3) | x=f32[b,m,k] y=f32[b,k,n] z=f32[m,n] | b=2,m=3,k=4,n=5; b=4,m=6,k=7,n=2
F | torch.addr(z,x,y,beta=0.3) | x=f32[m] y=f32[n] z=f32[m,n] | m=3,n=5; m=6,n=2
F | torch.outer(x,y) | x=f32[m] y=f32[n] | m=3,n=5; m=6,n=2
F | torch.tensordot(x,y,dims=([1,0],[0,1])) | x=f32[a,b,c] y=f32[b,a,d] | a=2,b=3,c=4,d=5; a=3,b=4,c=2,d=6
F | torch.tensordot(x,y,dims=1) | x=f32[a,b,c] y=f32[c,d] | a=2,b=3,c=4,d=5; a=3,b=4,c=2,d=6
F | torch.kron(x,y) | x=f32[a,b] y=f32[c,d] | a=2,b=3,c=4,d=5; a=3,b=4,c=2,d=6 | nopt2
F | torch.kron(x,y) | x=f32[b] y=f32[c,d] | b=3,c=4,d=5; b=4,c=2,d=6 | nopt2
F | torch.chain_matmul(x,y,z) | x=f32[a,b] y=f32[b,c] z=f32[c,d] | a=2,b=3,c=4,d=5; a=3,b=4,c=2,d=6 | nopt2
F | torch.linalg.multi_dot([x,y,z]) | x=f32[a,b] y=f32[b,c] z=f32[c,d] | a=2,b=3,c=4,d=5; a=3,b=4,c=2,d=6 | nopt2
F | torch.cross(x,y,dim=1) | x=f32[a,3] y=f32[a,3] | a=2; a=5
F | torch.linalg.cross(x,y) | x=f32[a,b,3] y=f32[a,b,3] | a=2,b=4; a=5,b=2
F | torch.linalg.vecdot(x,y) | x=f32[a,b] y=f32[a,b] | a=2,b=4; a=5,b=2
M | nn.Conv2d(3,4,3) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv2d(3,4,3,padding='same') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv2d(3,4,4,padding='same',dilation=2) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv2d(3,4,3,padding='valid',stride=2) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv2d(4,4,(3,5),stride=(2,1),padding=(1,2),groups=4,bias=False) | x=f32[b,4,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv2d(3,4,3) | x=f32[3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv2d(3,4,3,padding=1,padding_mode='circular') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv2d(3,4,3).half() | x=f16[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv1d(3,4,3,padding=1,stride=2) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv1d(3,4,3) | x=f32[3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Conv3d(2,4,3,padding=1) | x=f32[b,2,h,w,5] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.ConvTranspose2d(3,4,3,stride=2,padding=1,output_padding=1) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.ConvTranspose2d(4,4,3,groups=2,dilation=2) | x=f32[4,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.ConvTranspose1d(3,4,4,stride=2,bias=False) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.ConvTranspose3d(2,3,2,stride=2) | x=f32[b,2,h,w,3] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.conv_tbc(x,self.w,self.c,1) where w=torch.randn(3,4,5) ; c=torch.randn(5) | x=f32[h,b,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | nopt2
F | F.conv2d(x,w) | x=f32[b,3,h,w0] w=f32[4,3,3,3] | b=2,h=9,w0=8; b=1,h=5,w0=7
M | torch.nn.utils.weight_norm(nn.Conv1d(3,4,3)) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | torch.nn.utils.parametrizations.weight_norm(nn.Conv1d(3,4,3)) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | torch.nn.utils.weight_norm(nn.Linear(3,4),dim=None) | x=f32[b,3] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.BatchNorm2d(3) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.BatchNorm2d(3,affine=False) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.BatchNorm2d(3,track_running_stats=False) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.BatchNorm1d(3) | x=f32[b,3] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.BatchNorm1d(3).double() | x=f64[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | rounded
M | nn.BatchNorm3d(3) | x=f32[b,3,h,w,2] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.BatchNorm2d(3).half() | x=f16[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.InstanceNorm2d(3) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.InstanceNorm2d(3,affine=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.InstanceNorm2d(3,affine=True,track_running_stats=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.InstanceNorm1d(3) | x=f32[3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.InstanceNorm2d(3).double() | x=f64[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | rounded
M | nn.LayerNorm(4) | x=f32[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LayerNorm((5,4)) | x=f32[b,h,5,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LayerNorm(4,elementwise_affine=False) | x=f32[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LayerNorm(4,bias=False) | x=f32[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LayerNorm(4).half() | x=f16[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LayerNorm(4).double() | x=f64[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | rounded
F | F.layer_norm(x,x.shape[-1:]) | x=f32[b,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.native_layer_norm(x,[4],None,None,1e-5) | x=f32[b,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.GroupNorm(2,4) | x=f32[b,4,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.GroupNorm(2,4,affine=False) | x=f32[b,4,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.GroupNorm(2,4) | x=f32[b,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.GroupNorm(1,4).half() | x=f16[b,4,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.GroupNorm(2,4).double() | x=f64[b,4,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | rounded
M | nn.RMSNorm(4) | x=f32[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.RMSNorm(4,eps=1e-3,elementwise_affine=False) | x=f32[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.RMSNorm((5,4),eps=1e-6) | x=f32[b,h,5,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.RMSNorm(4).half() | x=f16[b,h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LocalResponseNorm(3) | x=f32[b,5,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.normalize(x,dim=1) | x=f32[b,5,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Embedding(10,4,padding_idx=0) | x=i64[b,h]%0:9 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Embedding(10,4) | x=i32[h]%0:9 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.scaled_dot_product_attention(q,k,v) | q=f32[b,2,s,8] k=f32[b,2,t,8] v=f32[b,2,t,6] | b=2,s=5,t=6; b=1,s=1,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,is_causal=True) | q=f32[b,2,s,8] k=f32[b,2,t,8] v=f32[b,2,t,6] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,is_causal=True) | q=f32[b,2,s,8] k=f32[b,2,s,8] v=f32[b,2,s,6] | b=2,s=5; b=1,s=2; b=3,s=7
F | F.scaled_dot_product_attention(q,k,v,attn_mask=m) | q=f32[b,2,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] m=f32[s,t] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,attn_mask=m) | q=f32[b,2,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] m=bool[b,1,s,t] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,attn_mask=m>1.2) | q=f32[b,2,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] m=f32[b,2,s,t] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,attn_mask=torch.where(m>1.2,0.0,float('-inf'))) | q=f32[b,2,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] m=f32[b,1,s,t] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,attn_mask=m) | q=f32[b,2,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] m=bool[b,1,1,t] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,scale=0.3) | q=f32[b,s,8] k=f32[b,t,8] v=f32[b,t,6] | b=2,s=5,t=6; b=1,s=2,t=7
F | F.scaled_dot_product_attention(q,k,v,is_causal=True,enable_gqa=True) | q=f32[b,6,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,attn_mask=m,enable_gqa=True) | q=f32[b,6,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] m=bool[b,1,s,t] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,attn_mask=m,enable_gqa=True) | q=f32[b,6,s,8] k=f32[b,2,t,8] v=f32[b,2,t,8] m=f32[b,6,s,t] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v,enable_gqa=True) | q=f32[b,4,s,8] k=f32[b,1,t,8] v=f32[b,1,t,8] | b=2,s=5,t=6; b=1,s=2,t=7; b=3,s=7,t=4
F | F.scaled_dot_product_attention(q,k,v) | q=f32[b,3,2,s,8] k=f32[b,3,2,t,8] v=f32[b,3,2,t,8] | b=2,s=5,t=6; b=1,s=2,t=7
F | F.scaled_dot_product_attention(q,k,v) | q=f32[s,8] k=f32[t,8] v=f32[t,8] | s=5,t=6; s=2,t=7
F | F.scaled_dot_product_attention(q,k,v) | q=f16[b,2,s,8] k=f16[b,2,t,8] v=f16[b,2,t,8] | b=2,s=5,t=6; b=1,s=2,t=7
F | F.scaled_dot_product_attention(q,k,v,is_causal=True) | q=f64[b,2,s,8] k=f64[b,2,t,8] v=f64[b,2,t,8] | b=2,s=5,t=6; b=1,s=2,t=7 | rounded
F | F.scaled_dot_product_attention(q,k,v) | q=f32[b,2,s,e] k=f32[b,2,t,e] v=f32[b,2,t,8] | b=2,s=5,t=6,e=3; b=1,s=2,t=7,e=4
F | F.scaled_dot_product_attention(x.view(x.shape[0],x.shape[1],2,4).transpose(1,2),x.view(x.shape[0],x.shape[1],2,4).transpose(1,2),x.view(x.shape[0],x.shape[1],2,4).transpose(1,2)).transpose(1,2).reshape(x.shape[0],x.shape[1],8) | x=f32[b,s,8] | b=2,s=5; b=1,s=2
M | nn.LSTM(4,6) | x=f32[s,b,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.LSTM(4,6,batch_first=True,num_layers=2) | x=f32[b,s,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.LSTM(4,6,batch_first=True,num_layers=2,bidirectional=True) | x=f32[b,s,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.LSTM(4,6,bias=False,bidirectional=True) | x=f32[s,4] | s=5; s=1; s=7
M | nn.LSTM(4,6,batch_first=True,num_layers=2,bidirectional=True,proj_size=3) | x=f32[b,s,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.LSTM(4,6,proj_size=3,bias=False) | x=f32[s,4] | s=5; s=1; s=7
M | nn.LSTM(4,6).double() | x=f64[s,b,4] | s=5,b=3; s=1,b=1; s=7,b=2 | rounded
M | nn.GRU(4,6,batch_first=True,num_layers=2,bidirectional=True) | x=f32[b,s,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.GRU(4,6,bias=False) | x=f32[s,b,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.GRU(4,6) | x=f32[s,4] | s=5; s=1; s=7
M | nn.RNN(4,6,batch_first=True,num_layers=2) | x=f32[b,s,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.RNN(4,6,nonlinearity='relu',bidirectional=True) | x=f32[s,b,4] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.GRU(4,6,num_layers=2) | x=f32[s,b,4] h=f32[2,b,6] | s=5,b=3; s=1,b=1; s=7,b=2
M | nn.RNN(4,6) | x=f32[s,4] h=f32[1,6] | s=5; s=1; s=7
M | nn.LSTMCell(4,6) | x=f32[b,4] | b=3; b=1
M | nn.GRUCell(4,6) | x=f32[b,4] h=f32[b,6] | b=3; b=1
M | nn.RNNCell(4,6) | x=f32[b,4] h=f32[b,6] | b=3; b=1
M | nn.RNNCell(4,6,nonlinearity='relu',bias=False) | x=f32[4] h=f32[6] | b=3; b=1
M | nn.GRUCell(4,6,bias=False) | x=f32[4] h=f32[6] | b=3; b=1
M | nn.MultiheadAttention(8,2,batch_first=True) | q=f32[b,s,8] k=f32[b,t,8] v=f32[b,t,8] | b=2,s=5,t=6; b=1,s=2,t=7
M | nn.TransformerEncoderLayer(8,2,16,batch_first=True) | q=f32[b,s,8] | b=2,s=5,t=6; b=1,s=2,t=7
M | nn.TransformerEncoderLayer(8,2,16,batch_first=True,norm_first=True,activation='gelu') | q=f32[b,s,8] | b=2,s=5,t=6; b=1,s=2,t=7
M | nn.TransformerEncoder(nn.TransformerEncoderLayer(8,2,16,batch_first=True),2) | q=f32[b,s,8] | b=2,s=5,t=6; b=1,s=2,t=7
M | nn.TransformerDecoderLayer(8,2,16,batch_first=True) | q=f32[b,s,8] m=f32[b,t,8] | b=2,s=5,t=6; b=1,s=2,t=7
"""
