"""Rows of nn_live.py: pools, resizing, sampling, einsum, bags, losses, complex numbers and transforms."""

ROWS = r"""
M | nn.MaxPool2d(2) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool2d(3,stride=2,padding=1) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool2d(3,stride=2,padding=1,ceil_mode=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool2d(2,stride=3,padding=1,ceil_mode=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool2d(2,dilation=2,ceil_mode=True) | x=f32[3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool2d(3,2,return_indices=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool2d(3,2,1,return_indices=True,ceil_mode=True) | x=f32[3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool1d(3,2) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | nopt2
M | nn.MaxPool1d(3,2,return_indices=True) | x=f32[3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.MaxPool3d(2,ceil_mode=True) | x=f32[b,3,h,w,5] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.max_pool2d(x,2) | x=i64[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.max_pool2d(x,2) | x=f64[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | rounded
F | F.max_pool2d(x,2) | x=u8[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(2) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(3,stride=2,padding=1) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(3,stride=2,padding=1,count_include_pad=False) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(3,stride=2,padding=1,ceil_mode=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(3,stride=2,padding=1,ceil_mode=True,count_include_pad=False) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(3,stride=2,ceil_mode=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(2,stride=3,padding=1,ceil_mode=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(2,stride=3,padding=1,ceil_mode=True,count_include_pad=False) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(3,stride=2,padding=1,divisor_override=5) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(3,stride=2,ceil_mode=True,divisor_override=5) | x=f32[3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool1d(3,stride=2,padding=1,ceil_mode=True) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool3d(2,ceil_mode=True) | x=f32[b,3,h,w,5] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AvgPool2d(2).double() | x=f64[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | rounded
M | nn.AvgPool2d(2).half() | x=f16[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LPPool2d(2,3,stride=2) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.LPPool1d(3,2) | x=f32[b,3,h]%0.1:2 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool2d(1) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool2d(1) | x=f32[3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool2d((3,2)) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool2d((None,2)) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool2d((7,7)) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool2d((2,3)) | x=f32[b,3,8,9] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool2d((3,3)) | x=f32[b,3,8,10] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool1d(4) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool1d(1) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveAvgPool3d((2,3,1)) | x=f32[b,3,h,w,5] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveMaxPool2d((3,2)) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveMaxPool2d((3,2),return_indices=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveMaxPool2d(1) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveMaxPool1d(3,return_indices=True) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.AdaptiveMaxPool3d((2,2,2)) | x=f32[b,3,h,w,5] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.adaptive_avg_pool2d(x,(y.shape[2],y.shape[3])) | x=f32[b,3,h,w] y=f32[b,3,p,q] | b=2,h=9,w=8,p=4,q=3; b=1,h=5,w=7,p=5,q=9
M | nn.Upsample(scale_factor=2) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Upsample(scale_factor=3) | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Upsample(scale_factor=1.5) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Upsample(scale_factor=0.5) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Upsample(size=(7,11)) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Upsample(size=(7,11)) | x=f32[b,3,5,6] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
M | nn.Upsample(scale_factor=2) | x=f32[b,3,h,w,3] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,size=y.shape[2:]) | x=f32[b,3,h,w] y=f32[b,3,p,q] | b=2,h=9,w=8,p=14,q=3; b=1,h=5,w=7,p=5,q=9
F | F.interpolate(x,size=y.shape[2:],mode='bilinear') | x=f32[b,3,h,w] y=f32[b,3,p,q] | b=2,h=9,w=8,p=14,q=3; b=1,h=5,w=7,p=5,q=9
F | F.interpolate(x,size=y.shape[2:],mode='bilinear',align_corners=True) | x=f32[b,3,h,w] y=f32[b,3,p,q] | b=2,h=9,w=8,p=14,q=3; b=1,h=5,w=7,p=5,q=9
F | F.interpolate(x,scale_factor=2,mode='bilinear') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=2,mode='bilinear',align_corners=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=0.5,mode='bilinear') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=1.5,mode='bilinear') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=1.5,mode='bilinear',recompute_scale_factor=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=1.7,mode='bilinear') | x=f32[b,3,9,8] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=1.7) | x=f32[b,3,9,8] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=2,mode='bicubic') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,size=(7,11),mode='bicubic') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,size=(7,11),mode='bicubic',align_corners=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=2,mode='linear') | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,size=5,mode='linear') | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=2,mode='trilinear') | x=f32[b,3,h,w,3] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,size=(4,5,6),mode='trilinear',align_corners=True) | x=f32[b,3,h,w,3] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=2,mode='nearest-exact') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,size=(7,11),mode='nearest-exact') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=1.5,mode='nearest-exact') | x=f32[b,3,h] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,size=(7,11),mode='bilinear',antialias=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=18
F | F.interpolate(x,size=(4,5),mode='bicubic',antialias=True) | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=18
F | F.interpolate(x,scale_factor=0.5,mode='area') | x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=2.0,mode='bilinear') | x=f64[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | rounded
F | F.interpolate(x,scale_factor=2.0) | x=f16[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.interpolate(x,scale_factor=2.0) | x=u8[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.grid_sample(x,g,align_corners=False) | x=f32[b,3,h,w] g=f32[b,4,5,2]%-1.3:1.3 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=16
F | F.grid_sample(x,g,align_corners=True,padding_mode='border') | x=f32[b,3,h,w] g=f32[b,4,5,2]%-1.3:1.3 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=16
F | F.grid_sample(x,g,align_corners=False,padding_mode='reflection') | x=f32[b,3,h,w] g=f32[b,4,5,2]%-1.3:1.3 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=16
F | F.grid_sample(x,g,mode='bicubic',align_corners=False) | x=f32[b,3,h,w] g=f32[b,4,5,2]%-1.3:1.3 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=16
F | F.grid_sample(x,g,mode='nearest',align_corners=False) | x=f32[b,3,h,w] g=f32[b,4,5,2]%-1.3:1.3 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=16
F | F.grid_sample(x,g,align_corners=False) | x=f32[b,3,h,w,4] g=f32[b,2,4,5,3]%-1.3:1.3 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=20
F | F.affine_grid(t,x.shape,align_corners=False) | t=f32[b,2,3] x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | nopt2
F | F.affine_grid(t,x.shape,align_corners=True) | t=f32[b,2,3] x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | nopt2
F | F.affine_grid(t,x.shape,align_corners=True) | t=f32[b,3,4] x=f32[b,3,h,w,2] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | nopt2
F | F.grid_sample(x,F.affine_grid(t,x.shape,align_corners=False),align_corners=False) | t=f32[b,2,3] x=f32[b,3,h,w] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11 | opset>=16 nopt2
F | torch.einsum('bij,bjk->bik',x,y) | x=f32[b,i,j] y=f32[b,j,k] | b=2,i=3,j=4,k=5; b=1,i=1,j=2,k=3
F | torch.einsum('bhid,bhjd->bhij',x,y) | x=f32[b,2,i,4] y=f32[b,2,j,4] | b=2,i=3,j=4; b=1,i=1,j=2
F | torch.einsum('bijc,bijk->bkc',x,y) | x=f32[b,i,j,4] y=f32[b,i,j,3] | b=2,i=3,j=4; b=1,i=1,j=2
F | torch.einsum('...ij,...jk->...ik',x,y) | x=f32[b,2,i,j] y=f32[2,j,k] | b=2,i=3,j=4,k=5; b=1,i=1,j=2,k=3
F | torch.einsum('ij,jk',x,y) | x=f32[i,j] y=f32[j,k] | i=3,j=4,k=5; i=1,j=2,k=3
F | torch.einsum('ii->i',x) | x=f32[4,4] | i=3 | opset>=12
F | torch.einsum('ii',x) | x=f32[4,4] | i=3 | opset>=12
F | torch.einsum('ij->j',x) | x=f32[i,j] | i=3,j=4; i=2,j=5
F | torch.einsum('ij->ji',x) | x=f32[i,j] | i=3,j=4; i=2,j=5
F | torch.einsum('i,j->ij',x,y) | x=f32[i] y=f32[j] | i=3,j=4; i=2,j=5
F | torch.einsum('bn,anm,bm->ba',x,y,z) | x=f32[b,3] y=f32[5,3,4] z=f32[b,4] | b=2; b=1
F | torch.einsum('bchw,c->bchw',x,y) | x=f32[b,3,h,w] y=f32[3] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.einsum('nchw,ck->nkhw',x,y) | x=f32[b,3,h,w] y=f32[3,5] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.einsum('b s h d, b t h d -> b h s t',x,y) | x=f32[b,s,2,4] y=f32[b,t,2,4] | b=2,s=3,t=5; b=1,s=2,t=2
F | torch.einsum('Bi,Bj',x,y) | x=f32[b,3] y=f32[b,4] | b=2; b=1
F | torch.einsum('bij,bjk->bik',x,y) | x=f16[b,i,j] y=f16[b,j,k] | b=2,i=3,j=4,k=5; b=1,i=1,j=2,k=3
F | torch.einsum('ij,jk->ki',x,y) | x=i64[i,j] y=i64[j,k] | i=3,j=4,k=5; i=1,j=2,k=3
F | F.embedding_bag(i,self.w,o,mode='sum') where w=torch.randn(10,4) | i=i64[n]%0:9 o=i64[3]%0:1 | n=7; n=4
M | nn.EmbeddingBag(10,4,mode='sum') | x=i64[b,h]%0:9 | b=2,h=13; b=1,h=8; b=3,h=17
M | nn.EmbeddingBag(10,4,mode='mean') | x=i64[b,h]%0:9 | b=2,h=13; b=1,h=8; b=3,h=17
M | nn.EmbeddingBag(10,4,mode='max') | x=i64[b,h]%0:9 | b=2,h=13; b=1,h=8; b=3,h=17
M | nn.EmbeddingBag(10,4,mode='mean',padding_idx=2) | x=i64[b,h]%0:9 | b=2,h=13; b=1,h=8; b=3,h=17
F | F.embedding_bag(i,self.w,self.o,mode='mean') where w=torch.randn(10,4) ; o=torch.tensor([0,2,2,5]) | i=i64[n]%0:9 | n=7; n=6
F | F.embedding_bag(i,self.w,self.o,mode='max') where w=torch.randn(10,4) ; o=torch.tensor([0,2,2,5]) | i=i64[n]%0:9 | n=7; n=6
F | F.embedding_bag(i,self.w,self.o,mode='sum',include_last_offset=True,per_sample_weights=p) where w=torch.randn(10,4) ; o=torch.tensor([0,2,2,5]) | i=i64[5]%0:9 p=f32[5] | n=7
F | torch.cdist(x,y) | x=f32[b,h,4] y=f32[b,w,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.cdist(x,y,p=1) | x=f32[h,4] y=f32[w,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.cdist(x,y,p=3) | x=f32[h,4] y=f32[w,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.cdist(x,y,p=float('inf')) | x=f32[h,4] y=f32[w,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.cdist(x,y) | x=f32[30,4] y=f32[w,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.pairwise_distance(x,y) | x=f32[b,4] y=f32[b,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.pairwise_distance(x,y,p=1,keepdim=True) | x=f32[b,4] y=f32[4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cosine_similarity(x,y) | x=f32[b,4] y=f32[b,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cosine_similarity(x.unsqueeze(1),y.unsqueeze(0),dim=-1) | x=f32[b,4] y=f32[h,4] | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.l1_loss(x,y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.mse_loss(x,y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.mse_loss(x,y,reduction='sum') | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.mse_loss(x,y,reduction='none') | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.smooth_l1_loss(x,y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.smooth_l1_loss(x,y,beta=0.3) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.huber_loss(x,y,delta=0.7) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.binary_cross_entropy_with_logits(x,y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.binary_cross_entropy(torch.sigmoid(x),y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.kl_div(x,y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.kl_div(x,y,reduction='batchmean') | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.kl_div(x,y,log_target=True) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.soft_margin_loss(x,y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.poisson_nll_loss(x,y) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.poisson_nll_loss(x.exp(),y*5,log_input=False,full=True) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cosine_embedding_loss(x,y,y[:,0].sign()) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.hinge_embedding_loss(x,y.sign()) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.margin_ranking_loss(x,y,y.sign()) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.triplet_margin_loss(x,y,x+1,swap=True) | x=f32[b,h] y=f32[b,h]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.binary_cross_entropy_with_logits(x,y,pos_weight=self.p,weight=self.w) where p=torch.rand(5) ; w=torch.rand(5) | x=f32[b,5] y=f32[b,5]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.nll_loss(x,y) | x=f32[b,5] y=i64[b]%0:5 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.nll_loss(x,y,weight=self.w,ignore_index=2) where w=torch.rand(5) | x=f32[b,5,h] y=i64[b,h]%0:5 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cross_entropy(x,y) | x=f32[b,5] y=i64[b]%0:5 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cross_entropy(x,y,ignore_index=1,label_smoothing=0.1) | x=f32[b,5,h,w] y=i64[b,h,w]%0:5 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cross_entropy(x,y,weight=self.w,label_smoothing=0.1) where w=torch.rand(5) | x=f32[b,5] y=i64[b]%0:5 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cross_entropy(x,y,label_smoothing=0.1) | x=f32[b,5] y=f32[b,5]%0:1 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | F.cross_entropy(x,y,reduction='none') | x=f32[5] y=i64[]%0:5 | b=2,h=9,w=8; b=1,h=5,w=7; b=3,h=12,w=11
F | torch.view_as_real(torch.view_as_complex(x.reshape(x.shape[0],x.shape[1],-1,2))*torch.view_as_complex(self.f)).flatten(2) where f=torch.randn(4,2) | x=f32[b,h,8] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.view_as_real(torch.view_as_complex(x.float().reshape(*x.shape[:-1],-1,2))*torch.polar(torch.ones_like(y),y)).flatten(3) | x=f32[b,2,h,8] y=f32[h,4] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.view_as_real(torch.view_as_complex(x.reshape(*x.shape[:-1],-1,2))*self.f[:x.shape[1]].unsqueeze(0).unsqueeze(2)).flatten(3) where f=torch.polar(torch.ones(20,4),torch.rand(20,4)) | x=f32[b,h,2,8] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.fft(x).abs() | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.fft(x).real | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.fft(x) | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.rfft(x) | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.rfft(x,n=10) | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.rfft(x,dim=1,norm='ortho') | x=f32[b,h,3] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.irfft(torch.fft.rfft(x),n=x.shape[-1]) | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.irfft(torch.fft.rfft(x)) | x=f32[b,12] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.irfft(torch.fft.rfft(x,norm='ortho')*self.w,n=12,norm='ortho') where w=torch.randn(7,dtype=torch.complex64) | x=f32[b,12] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.irfft2(torch.fft.rfft2(x,norm='ortho'),s=(x.shape[-2],x.shape[-1]),norm='ortho') | x=f32[b,h,6] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.ifft(torch.fft.fft(x)).real | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.fft2(x).real | x=f32[b,h,6] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.fft(torch.fft.fft(x,dim=-1),dim=-2).real | x=f32[b,h,6] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.fftn(x).imag | x=f32[b,h,6] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.rfft(x) | x=f64[b,h] | b=2,h=12; b=1,h=8; b=3,h=17 | rounded
F | torch.fft.hfft(torch.fft.rfft(x)) | x=f32[b,12] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.rfftfreq(12)+x | x=f32[b,7] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.fft.fftfreq(12,0.5)+x | x=f32[b,12] | b=2,h=12; b=1,h=8; b=3,h=17
F | x*y+x.conj()-2j*y | x=c64[b,h] y=c64[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | x/y | x=c64[b,h] y=c64[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | x/y | x=c64[b,h] y=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.exp(x) | x=c64[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.log(x) | x=c64[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | x.abs()+x.angle()+x.real*x.imag | x=c64[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | x**2 | x=c64[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | x@y | x=c64[b,h] y=c64[h,4] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.einsum('bh,hk->bk',x,y) | x=c64[b,h] y=c64[h,4] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.einsum('bix,iox->box',torch.fft.rfft(x)[:,:,:3],self.w) where w=torch.randn(2,4,3,dtype=torch.complex64) | x=f32[b,2,h] | b=2,h=12; b=1,h=8; b=3,h=17 | opset>=12
F | torch.complex(x,y).reshape(-1)[1:].sum() | x=f32[b,h] y=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.cat([torch.complex(x,y),torch.complex(y,x)],1).transpose(0,1) | x=f32[b,h] y=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | x.to(torch.complex64)*1j | x=f32[b,h] | b=2,h=12; b=1,h=8; b=3,h=17
F | torch.stft(x,8,4,window=self.w,return_complex=True).abs() where w=torch.hann_window(8) | x=f32[b,h] | b=2,h=40; b=1,h=33; b=3,h=17
F | torch.stft(x,8,4,center=False,return_complex=True) | x=f32[b,h] | b=2,h=40; b=1,h=33; b=3,h=17
F | torch.view_as_real(torch.stft(x,8,3,win_length=6,window=torch.hann_window(6),normalized=True,return_complex=True)) | x=f32[h] | b=2,h=40; b=1,h=33; b=3,h=17
F | torch.istft(torch.stft(x,8,2,window=self.w,return_complex=True),8,2,window=self.w) where w=torch.hann_window(8) | x=f32[b,h] | b=2,h=40; b=1,h=34; b=3,h=18
F | x*torch.hamming_window(12)+torch.blackman_window(12,periodic=False)+torch.bartlett_window(12) | x=f32[b,12] | b=2,h=12; b=1,h=8; b=3,h=17
"""
