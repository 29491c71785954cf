"""Writing in place, through views of all kinds."""

ROWS = r"""
x = x.clone();x[:, 1:3].add_(1);return x | x=f32[b,s,4] | s>=3 shapes:0
x = x.clone();x[:, 1:].mul_(2);x[0].add_(x[-1]);return x | x=f32[b,s,4] | shapes:0
x = x.clone();x[:, -2:] = 0;return x | x=f32[b,s,4] | s>=2
x = x.clone();x[..., 0] = y;return x | x=f32[b,s,4] y=f32[b,s] | shapes:0
x = x.clone();x[:, -1, 1:3] = y;return x | x=f32[b,s,4] y=f32[b,2] | shapes:0
x = x.clone();x[:, 2:1] = 5;x[:, 100:] = 6;x[:, :100] += 1;return x | x=f32[b,s,4]
x = x.clone();x[:, 2:-1] = 5;return x | x=f32[b,s,4]
x = x.clone();x[:, ::2] += 1;x[:, 1::2] *= 3;return x | x=f32[b,s,4]
x = x.clone();x[..., ::2] = x[..., 1::2];return x | x=f32[b,s,4]
x = x.clone();x[..., 1::2] = x[..., ::2] * 2;x[..., ::2] = 0;return x | x=f32[b,s,6] | 
x = x.clone();x[1:, :, 2].fill_(7);return x | x=f32[b,s,4]
x = x.clone();y = x.transpose(0, 1);y[0].add_(10);z = x + 1;y.mul_(2);return x, y, z | x=f32[b,s,4]
x = x.clone();y = x.view(-1);y[0] = 100;y[-1] = 200;return x, y | x=f32[b,s]
x = x.clone();y = x.permute(2, 0, 1)[1].unsqueeze(0);y.add_(5);y.zero_();return x, y | x=f32[b,s,4]
x = x.clone();a = x[:, :2];c = x[:, 1:];a.add_(1);c.mul_(2);a.sub_(3);return x, a, c | x=f32[b,s] | s>=3 shapes:0
x = x.clone();a, c = x.chunk(2, -1);a.add_(c);c.mul_(a);return x, a, c | x=f32[b,s,6] | shapes:0
x = x.clone();p = x.split([1, 2, 3], -1);p[1].zero_();p[2].copy_(p[0]);return x, p | x=f32[b,s,6]
x = x.clone();p = x.unbind(2);p[0].add_(p[1]);p[2].copy_(p[0] * 2);return x, p | x=f32[b,s,3] | shapes:0
x = x.clone();y = x[0];z = y[1:];z.add_(1);y.mul_(2);x.add_(1);return x, y, z | x=f32[b,s,4] | shapes:0
x = x.clone();y = x.reshape(x.shape[0], -1);y.add_(1);return x, y | x=f32[b,s,4]
x = x.clone();y = x.transpose(0, 1).reshape(-1);y.add_(1);return x, y | x=f32[b,s,4] | b>=2 s>=2
x = x.clone();y = x.transpose(0, 1).contiguous();y.add_(1);return x, y | x=f32[b,s,4] | b>=2 s>=2
x = x.clone();y = x[0].contiguous();y.add_(1);return x, y | x=f32[b,s,4]
x = x.clone();y = x[0].reshape(-1);y.add_(1);return x, y | x=f32[b,s,4]
x = x.clone();y = x[1:].flatten();y.add_(1);return x, y | x=f32[b,s,4] | b>=2
x = x.clone();y = x.clone();y.add_(1);x.mul_(y);return x, y | x=f32[b,s]
x = x.clone();y = x.detach();y.add_(1);return x, y | x=f32[b,s]
x = x.clone();y = x.squeeze(1);y[:, 0] = 9;return x, y | x=f32[b,1,s] | b>=2 s>=2
x = x.clone();y = x.unsqueeze(0);y += 1;return x, y | x=f32[b,s]
x = x.clone();x.unsqueeze_(1);x.add_(1);return x | x=f32[b,s]
x = x.clone();y = x[0];x.t_();x.add_(1);x[0].mul_(2);return x, y | x=f32[b,s]
x = x.clone();y = x[:, 1:];x.transpose_(0, 1);y.add_(1);return x, y | x=f32[b,s]
x = x.clone();x.squeeze_(1);x[0] = 1;return x | x=f32[b,1,s] | b>=2 s>=2
x = x.clone();x.diagonal().add_(5);x.diagonal(1).zero_();return x | x=f32[s,s] | s>=2
x = x.clone();x.diagonal(0, 1, 2).fill_(1);return x | x=f32[b,4,4]
x = x.clone();x.copy_(y);return x | x=f32[b,s,4] y=i64[s,1]
x = x.clone();x[0].copy_(y);return x | x=f32[b,s,4] y=f16[4]
x = x.clone();x.fill_(3);y = x.clone();y.zero_();return x, y | x=i64[b,s]
x = x.clone();x[:, 0] = True;x[0] &= m;return x | x=bool[b,s] m=bool[s]
x = x.clone();x[:, 1:] += y;return x | x=i64[b,s] y=i32[b,1] | s>=2
x = x.clone();x += 1;x -= 2;x *= 3;x[:, :1].neg_();return x | x=f32[b,s]
x = x.clone();x.narrow(1, 0, 1).add_(1);x.select(0, -1).mul_(2);return x | x=f32[b,s] | shapes:0
x = x.clone();x.index_put_((torch.tensor([0]),), y);x[1:].index_fill_(1, torch.tensor([0]), 4);return x | x=f32[b,s] y=f32[s] | b>=2
x = x.clone();y = x[:, 1:];y[y > 0] = 0;return x | x=f32[b,s]
x = x.clone();x[:, 1:3].scatter_(1, torch.tensor([[0], [1]]), 9.0);return x | x=f32[2,s] | s>=3
x = x.clone();x[0, 0] = x[0, 0] + x[-1, -1];return x | x=f32[b,s]
x = x.clone();x.view(-1, 2)[:, 0] = 0;return x | x=f32[b,s,4]
x = x.clone();x.unflatten(-1, (2, 2))[..., 1].mul_(10);return x | x=f32[b,s,4] | shapes:0
x = x.clone();x.movedim(0, -1)[0, 0].add_(1);x.swapaxes(0, 1)[0].sub_(1);return x | x=f32[b,s,4]
x = x.clone();r = torch.relu_(x[:, 1:]);return x, r | x=f32[b,s]
x = x.clone();y = x.expand(2, -1, -1);x.add_(1);return x, y | x=f32[b,s]
x = x.clone();y = x[0:1];z = x.view(-1);z.mul_(2);y.add_(1);return x, y, z, x[0] | x=f32[b,s]
x = x.clone();h = x[:, 0];o = [];o.append(h * 2);x[:, 0] = 0;o.append(h + 1);return o, x | x=f32[b,s]
o = torch.zeros(x.shape[0], x.shape[1] + 2);o[:, 1:-1] = x;return o | x=f32[b,s]
o = x.new_zeros(x.shape[0], 3, x.shape[1]);o[:, 0] = x;o[:, 1:, 1:] = 2;o[:, 2, :-1] = x[:, 1:];return o | x=f32[b,s]
o = torch.zeros(x.shape[0], 4);o[:, 0::2] = x;o[:, 1::2] = x * 2;return o | x=f32[b,2]
p = torch.zeros_like(x);p[:, 1:] = x[:, :-1].clone();p[:, 0] = 5;return p | x=i64[b,s]
"""
