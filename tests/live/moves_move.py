"""Operators that move elements: views, parts, joins, padding, indices, scattering, patches; writing into views."""

ROWS = r"""
# views
x.view(x.shape[0], -1) | x=f32[b,s,4]
x.reshape(-1, 4) | x=f32[b,s,4]
x.reshape(x.shape[0], x.shape[1], 2, 2) | x=f32[b,s,4] | shapes:0
x.reshape(x.shape[0], x.shape[1], 2, -1).transpose(1, 2).reshape(x.shape[0], x.shape[1], 4) | x=f32[b,s,4]
x.view(-1) | x=i64[b,s]
x.view(2, -1, 3) | x=f32[2,s,3]
x.reshape(x.shape[0] * x.shape[1], 2, 2) | x=f32[b,s,4] | shapes:0
x.reshape(x.shape[1], x.shape[0], 4) | x=f32[b,s,4]
x.flatten(1), x.flatten(), x.flatten(0, 1), x.flatten(2) | x=f32[b,s,4] | shapes:0
x.sum().flatten() | x=f32[b]
x.unflatten(2, (2, -1)), x.unflatten(-1, (3, 2)) | x=f32[b,s,6] | shapes:0
x.unflatten(1, (-1, 2)) | x=f32[b,h,6]
x.view_as(y), x.reshape_as(y) | x=f32[b,6] y=f32[b,2,3]
x.ravel() | x=f32[b,s]
x.transpose(0, 1), x.transpose(-1, 0), x.swapaxes(0, 2), x.swapdims(1, 2) | x=f32[b,s,4] | shapes:0
x.t(), x.T, x.mT | x=f32[b,s]
x[0].t(), x.mT, x.permute(2, 0, 1), x.permute(-1, -3, -2), x.movedim(0, -1), x.movedim((0, 1), (2, 0)), x.moveaxis(1, 0) | x=f32[b,s,4]
x.adjoint(), x.mH | x=f32[b,s,4]
x.unsqueeze(0), x.unsqueeze(-1), x.unsqueeze(1), x.unsqueeze(-2) | x=f32[b,s]
x.squeeze(), x.squeeze(1), x.squeeze(0), x.squeeze((1, 2)), x.squeeze(-2) | x=f32[b,1,s] | b>=2 s>=2
x.sum().squeeze(), x.sum().unsqueeze(0), x.sum().squeeze(0) | x=f32[b]
x.expand(-1, 5), x.expand(2, -1, 5), x.expand(x.shape[0], 3) | x=f32[b,1]
x.expand(x.shape[0], y.shape[0]) | x=f32[b,1] y=f32[s]
x.expand_as(y), x.broadcast_to(y.shape) | x=f32[b,1] y=f32[2,b,s]
x.unsqueeze(1).expand(-1, y.shape[1], -1) + y | x=f32[b,4] y=f32[b,s,4]
x.clone().contiguous().detach() * 1 | x=f32[b,s]
x.view(torch.float32) | x=f32[b,s] | notrace
torch.ops.aten._unsafe_view(x, [x.shape[0], 8]) | x=f32[b,2,4] | notrace
# parts
x[0], x[-1], x[:, 0], x[:, -1], x[..., 1], x.select(1, -2) | x=f32[b,s,4] | s>=2 shapes:0
x[:, x.shape[1] - 1], x[:, x.shape[1] // 2] | x=f32[b,s,4]
x[1:], x[:-1], x[:, 1:-1], x[:, :2], x[:, -2:], x[:, 3:] | x=f32[b,s,4] | shapes:0
x[:, ::2], x[:, 1::2], x[..., ::3], x[:, :-1:2], x[1:2, ::2, 1:] | x=f32[b,s,4] | shapes:0
x[:, 2:1], x[:, 100:], x[:, :100], x[:, -100:], x[:, -100:2] | x=f32[b,s,4]
x[:, :y.shape[0]], x[:, y.shape[0]:], x[:, -y.shape[0]:] | x=f32[b,s,4] y=f32[t]
x[:, : x.shape[1] - 1], x[:, x.shape[1] // 2 :] | x=f32[b,s,4]
x.narrow(1, 1, 2), x.narrow(1, -2, 2), x.narrow(1, -2, 1), x.narrow(0, 0, x.shape[0]) | x=f32[b,s] | s>=3 shapes:0
x.split(2, 2), x.split([1, 3, 2], -1), x.split(4, -1), x.split(6, -1) | x=f32[b,s,6] | shapes:0
x.split([1, x.shape[1] - 1], 1) | x=f32[b,s,6]
x.chunk(2, -1), x.chunk(3, 2), x.chunk(4, 2), x.chunk(5, 2), x.chunk(1, 1) | x=f32[b,s,6]
torch.split_with_sizes(x, [2, 4], 2), torch.unsafe_chunk(x, 2, 2), torch.unsafe_split(x, 4, 2) | x=f32[b,s,6] | notrace
x.tensor_split(3, -1), x.tensor_split(4, -1), x.tensor_split((1, 3), -1), x.tensor_split((2, -1), -1) | x=f32[b,s,6]
x.hsplit(2), x.vsplit(2) | x=f32[4,6,b]
x.hsplit([1, 2]), x.unbind(0), x.unbind(-1), torch.dsplit(x.unsqueeze(0), 2) | x=f32[3,4]
x.unbind(2)[1], x.unbind(2) | x=f32[b,s,3]
x.diagonal(), x.diagonal(1), x.diagonal(-2), x.diagonal(0, 1, 2) | x=f32[4,5,6]
x.diagonal(0, 1, 2), x.diagonal(1, 1, 2), x.diagonal(-1, -1, 0) | x=f32[b,s,s] | s>=2
torch.diagonal(x, 0, 1, 2) | x=f32[b,4,4] | shapes:0
x.unfold(1, 3, 1), x.unfold(1, 2, 2), x.unfold(-1, 2, 1) | x=f32[b,s,4] | s>=3 shapes:0
x.unfold(1, 4, 4), x.unfold(2, 2, 2).unfold(1, 4, 2) | x=f32[b,h,w] | shapes:0
x.unfold(1, 20, 3) | x=f32[b,32]
# joins
torch.cat([x, y], 1), torch.cat([x, x], 0), torch.cat([x, y], -2), torch.concat([x, y], 1), torch.concatenate([y, x, y], 1) | x=f32[b,s,4] y=f32[b,t,4] | shapes:0
torch.cat([x, y]), torch.cat([x, torch.zeros(0)]) | x=i32[b] y=f32[s]
torch.cat([x, y.to(torch.float64)], 1), torch.cat([m, x > 0], 1) | x=f32[b,2] y=f16[b,3] m=bool[b,2]
torch.stack([x, y]), torch.stack([x, y], 1), torch.stack([x, y], -1), torch.stack([x, y], -2) | x=f32[b,s] y=f32[b,s] | shapes:0
torch.stack([x.sum(), y.sum()]), torch.stack([x.sum(), y.sum()], -1) | x=f32[b] y=f32[s]
torch.hstack([x, y]), torch.vstack([x, x]), torch.dstack([x, x]) | x=f32[b,s] y=f32[b,t]
torch.hstack([x, y]), torch.vstack([x, x]), torch.dstack([x, x]), torch.column_stack([x, x]), torch.row_stack([x, x]) | x=f32[b] y=f32[t]
torch.column_stack([x, y]), torch.atleast_1d(x.sum()), torch.atleast_2d(y.sum(), x), torch.atleast_3d(x), torch.atleast_3d(y) | x=f32[b] y=f32[b,s]
x.repeat(2, 1, 3), x.repeat(2, 1, 1, 2), x.repeat(1, 1, 1) | x=f32[b,s,2] | shapes:0
x.repeat(x.shape[1], 1), x.repeat(1, y.shape[0]) | x=f32[b,s] y=f32[t]
x.repeat(3, 1, 1), x.repeat(1, 2, 1) | x=f32[1,b,1]
x.tile(2), x.tile((2, 2)), x.tile((2, 1, 1, 3)) | x=i64[b,s,2]
x.tile((2, 2)), x.repeat(2, 1) | x=bool[b,s]
x.tile((2, 2)), y.repeat(2, 1), z.repeat(1, 2) | x=f16[b,s] y=f64[b,s] z=u8[b,s]
x.repeat_interleave(3), x.repeat_interleave(2, dim=1), x.repeat_interleave(2, 0), x.repeat_interleave(2, -1) | x=f32[b,s,2]
x.repeat_interleave(torch.tensor([2, 0, 3]), dim=1), x.repeat_interleave(torch.tensor([2]), dim=0) | x=f32[b,3]
x.repeat_interleave(r, dim=0) | x=f32[b,2] r=i64[b]<4 | notrace
torch.repeat_interleave(r) | r=i64[b]<4 | notrace
x.roll(1, 1), x.roll(-1, 0), x.roll((1, 2), (0, 1)), x.roll(2, -1), x.roll(-2, 1) | x=f32[b,s,4] | shapes:0
x.roll(3, 1), x.roll(-4, 1), x.roll(7, 2), x.roll(-9, 2), x.roll(4, 2) | x=f32[b,s,4]
x.roll(x.shape[1] // 2, 1), x.roll(1), x.roll(-3) | x=f32[b,s]
x.flip(0), x.flip(1, 2), x.flip(-1), torch.fliplr(x), torch.flipud(x) | x=f32[b,s,4] | shapes:0
x.rot90(), x.rot90(2), x.rot90(3, (1, 2)), x.rot90(-1, (2, 0)), x.rot90(4) | x=f32[b,s,4]
torch.meshgrid(x, y, indexing="ij"), torch.meshgrid(x, y, indexing="xy"), torch.meshgrid(x, y, x, indexing="xy") | x=f32[b] y=f32[s]
torch.stack(torch.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2) | x=f32[b] y=f32[s]
torch.block_diag(x, y), torch.block_diag(x, y[0], x.sum()) | x=f32[b,2] y=f32[3,s]
torch.cartesian_prod(x, y), torch.cartesian_prod(x), torch.cartesian_prod(x, x, y) | x=f32[b] y=f32[s]
torch.combinations(x), torch.combinations(x, 3), torch.combinations(x, 2, True) | x=f32[5] | nopt2
# padding
F.pad(x, (1, 2)), F.pad(x, (0, 0, 2, 1)), F.pad(x, (1, 0, 0, 1, 1, 1), value=2.5), F.pad(x, (-1, 2)), F.pad(x, (0, 0, -1, -1)) | x=f32[b,s,4] | s>=3 shapes:0
F.pad(x, (1, 2), mode="reflect"), F.pad(x, (2, 1), mode="replicate"), F.pad(x, (2, 1), mode="circular") | x=f32[b,3,s] | s>=3 shapes:0
F.pad(x, (1, 2, 3, 1), mode="reflect"), F.pad(x, (2, 1, 0, 3), mode="replicate"), F.pad(x, (2, 1, 1, 0), mode="circular") | x=f32[b,2,h,w] | w>=4 shapes:0
F.pad(x, (1, 1, 1, 0, 1, 1), mode="replicate"), F.pad(x, (1, 1, 1, 0, 1, 1), mode="reflect"), F.pad(x, (1, 1, 1, 0, 2, 1), mode="circular") | x=f32[2,2,3,h,w]
F.pad(x, (0, x.shape[1] % 2)), F.pad(x, (0, 7 - x.shape[1])) | x=f32[b,s]
F.pad(x, (1, 1)), F.pad(y, (1, 1), value=3), F.pad(m, (1, 1), value=True), F.pad(m, (1, 0)), F.pad(h, (1, 1), value=-1.0), F.pad(d, (2, 2), value=0.5) | x=i64[b,s] y=i32[b,s] m=bool[b,s] h=f16[b,s] d=f64[b,s]
F.pad(x, (1, 1), value=float("-inf")) | x=f32[b,s]
F.pad(x, (1, 1)), F.pad(y, (1, 1)), F.pad(z, (1, 1)) | x=u8[b,s] y=i8[b,s] z=i16[b,s]
x = x.bfloat16();return F.pad(x, (1, 1)).float(), F.pad(x, (1, 1), value=2.0).float(), F.pad(x, (1, 1), mode='replicate').float() | x=f32[b,s] | from:13
torch.constant_pad_nd(x, (1, 1), 4) | x=f32[b,s]
torch.ops.aten.reflection_pad2d(x, [1, 1, 1, 1]), torch.ops.aten.replication_pad1d(x[0], [2, 2]) | x=f32[2,3,h,w] | notrace
# triangles and diagonals
x.tril(), x.triu(), x.tril(1), x.triu(-1), x.tril(-2) | x=f32[b,s,s]
x.tril(), x.triu(1) | x=bool[s,t]
x.tril(), y.triu(1), z.tril(-1), w.triu(2) | x=i64[s,t] y=i32[s,t] z=f16[s,t] w=f64[s,t]
x.triu(x.shape[1] - 1) | x=f32[b,s]
x.diag(), x.diag(1), x.diag(-1), y.diag(), y.diag(2), y.diag(-1) | x=f32[s] y=f32[4,5]
x.diag(), x.trace(), x.diag(1) | x=f32[s,t] | s>=2 t>=2
torch.diag_embed(x), torch.diag_embed(x, 1), torch.diag_embed(x, -2), torch.diag_embed(x, 0, 0, 2), torch.diag_embed(x, 1, 2, 0) | x=f32[b,s]
torch.diagflat(x), x.trace() | x=i32[3,4]
F.one_hot(x, 5), F.one_hot(x.sum() * 0, 3) | x=i64[b,s]<5
F.one_hot(torch.tensor([0, 2, 1])) + x | x=i64[1] | nopt2
# indices
x[i], x[:, j], x[:, :, k] | x=f32[b,s,4] i=i64[2,3]<-b..b j=i64[t]<-s..s k=i64[2]<4 | shapes:0
x[i, j], x[i, :, j], x[:, i, j] | x=f32[5,6,7] i=i64[t]<5 j=i64[t]<6
x[i, :, j], x[i, j] | x=f32[b,s,4] i=i64[t]<b j=i64[t]<1
x[i[:, None], j[None, :]], x[:, i[:, None], j] | x=f32[5,6,4] i=i64[b]<4 j=i64[s]<4 | shapes:0
x[i, 1:3, j], x[i, :, 0], x[0, i], x[:, i, None, j] | x=f32[5,6,7] i=i64[t]<5 j=i64[t]<6
x[torch.arange(x.shape[0]), i], x[torch.arange(3)[:, None], torch.arange(2)] | x=f32[b,s,4] i=i64[b]<s | s>=2 b>=3
x[..., torch.tensor([0, 2, 1])], x[[0, 1]], x[:, [0, -1]] | x=f32[b,s,4] | b>=2
x[m] | x=f32[b,s,4] m=bool[b,s]
x[m] | x=f32[b,s] m=bool[b,s]
x[m], x[m, 0], x[m, :, 1] | x=f32[b,s,4] m=bool[b]
x[:, m], x[:, m, 1:] | x=f32[b,s,4] m=bool[s]
x[:, m] | x=f32[b,3,s] m=bool[3,s]
x[m, i] | x=f32[3,5] m=bool[3] i=i64[1]<5
x[i.to(torch.int32)], x[i.sum() * 0] | x=f32[b,s] i=i64[t]<b
x.masked_select(m), x.masked_select(x > 0) | x=f32[b,s] m=bool[s]
x.nonzero(), torch.argwhere(x > 0), (y > 0).nonzero(), h.nonzero() | x=f32[b,s] y=i32[b] h=f16[b,s]
x.nonzero(as_tuple=True) | x=bool[b,s]
torch.where(x > 0) | x=f32[b,s]
x.index_select(0, i), x.index_select(1, j), x.index_select(-1, i * 0) | x=f32[b,s,4] i=i64[t]<b j=i64[t]<s
x.take(i), x.take(i[0]) | x=f32[b,s] i=i64[2,3]<b*s
x.gather(1, i), x.gather(-2, i) | x=f32[b,s,4] i=i64[b,t,4]<s
x.gather(0, i) | x=f32[b,s,4] i=i64[2,1,3]<b
x.sum().gather(0, i.sum() * 0) | x=f32[b] i=i64[b]<1
torch.take_along_dim(x, i, 1), torch.take_along_dim(x, j), torch.take_along_dim(x, i[:1], 1) | x=f32[b,s] i=i64[b,t]<s j=i64[t]<b*s
x.index_put((torch.tensor([1, 0]),), v), x.index_put((torch.tensor([1, 2]), torch.tensor([0, 1])), v[:, 0]) | x=f32[3,s,4] v=f32[2,s,4] | s>=2
x.index_put((i,), v, accumulate=True), x.index_put((i, i), v[:, 0], accumulate=True) | x=f32[b,b,4] i=i64[t]<b v=f32[t,b,4] | opset>=16
x = x.clone();x[:, i] = 3;return x | x=f32[b,s,4] i=i64[t]<s
x = x.clone();x[:, :, torch.tensor([2, 0])] = v;return x | x=f32[b,s,4] v=f32[b,s,2]
x = x.clone();x[torch.tensor([0, 1]), :, torch.tensor([2, 0])] = v;return x | x=f32[b,s,4] v=f32[2,s] | b>=2
x = x.clone();x[m] = 0;return x | x=f32[b,s,4] m=bool[b,s]
x = x.clone();x[m] = v;return x | x=f32[b,s,4] m=bool[b,s] v=f32[4]
x = x.clone();x[:, m] = v;return x | x=f32[b,s,4] m=bool[s] v=f32[b,1,4]
x = x.clone();x[m] = x[m] * 2;return x | x=f32[b,s] m=bool[b,s]
x = x.clone();x[x > 0] = y[x > 0];return x | x=f32[b,s] y=f32[b,s]
x = x.clone();x[x != x] = 0;return x | x=f32[b,s]
x = x.clone();x[m, 1] = 5;return x | x=f32[b,s] m=bool[b] | s>=2
x.masked_scatter(m, y), x.masked_scatter(m[:1], y) | x=f32[b,s] m=bool[b,s] y=f32[b,s]
x.index_add(1, i, v), x.index_add(1, i, v, alpha=2) | x=f32[b,s,4] i=i64[t]<s v=f32[b,t,4] | opset>=16
x.index_copy(1, torch.tensor([2, 0]), v), x.index_fill(1, torch.tensor([1, -1]), 7), x.index_fill(0, torch.tensor([0]), v.sum()) | x=f32[b,s,4] v=f32[b,2,4] | s>=3
x.scatter(1, torch.tensor([[0, 1], [1, 0]]), v), x.scatter(0, torch.tensor([[0, 1]]), 2.5) | x=f32[b,s] v=f32[2,3] | b>=2 s>=2
x.scatter(1, i, 1.0), x.scatter(1, i, v * 0 + 2) | x=f32[b,s] i=i64[b,2]<s v=f32[b,3]
x.scatter(1, i, v, reduce="add"), x.scatter(1, i, 2.0, reduce="multiply"), x.scatter_add(1, i, v) | x=f32[b,s] i=i64[b,t]<s v=f32[b,t] | opset>=16
x.scatter_reduce(1, i, v, "sum"), x.scatter_reduce(1, i, v, "prod", include_self=False), x.scatter_reduce(1, i, v, "mean"), x.scatter_reduce(1, i, v, "mean", include_self=False) | x=f32[b,s] i=i64[b,t]<s v=f32[b,t] | opset>=16
x.scatter_reduce(1, i, v, "amax"), x.scatter_reduce(1, i, v, "amin", include_self=False), x.scatter_reduce(1, i, v, "amax", include_self=False) | x=f32[b,s] i=i64[b,t]<s v=f32[b,t] | opset>=18
x.scatter_add(1, i, v), x.scatter_reduce(1, i, v, "mean"), x.scatter_reduce(1, i, v, "mean", include_self=False) | x=i64[b,s] i=i64[b,t]<s v=i64[b,t] | opset>=16
x.scatter_add(0, i, v) | x=f64[s] i=i64[t]<s v=f64[t] | opset>=16
x.put(torch.tensor([0, -1, 2]), v), x.put(torch.tensor([[0, 0, 1]]), v.unsqueeze(0)) | x=f32[b,s] v=f32[3] | s>=3 notrace
x.select_scatter(y, 1, 2), x.select_scatter(y, 1, -1), x.select_scatter(y, 1, 0) | x=f32[b,s,4] y=f32[b,4] | s>=3 shapes:0
x.slice_scatter(y, 1, 1, 3), x.slice_scatter(y[:, :1], 1, -1), x.slice_scatter(y, 1, 0, 3, 2), x.slice_scatter(y, 1, -2) | x=f32[b,s,4] y=f32[b,2,4] | s>=3
x.diagonal_scatter(v), x.diagonal_scatter(v[:-1], 1) | x=f32[s,s] v=f32[s] | s>=2
# patches
F.pixel_shuffle(x, 2), F.pixel_shuffle(x[0], 2), F.pixel_shuffle(x.unsqueeze(0), 2) | x=f32[b,8,h,w]
F.pixel_unshuffle(x, 2), F.pixel_unshuffle(x[0], 2), F.pixel_unshuffle(x[:, :1], 2) | x=f32[b,3,h,w]
F.pixel_shuffle(x, 2), F.pixel_unshuffle(y, 2), F.pixel_shuffle(z, 2) | x=i64[b,8,h,w] y=i32[b,3,h,w] z=f16[b,4,h,w]
F.channel_shuffle(x, 3), F.channel_shuffle(x, 2) | x=f32[b,6,h,w]
F.unfold(x, 3), F.unfold(x, (2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 2)), F.unfold(x[0], 2, stride=2) | x=f32[b,2,h,w] | w>=6 shapes:0
F.unfold(x, 3, padding=1), F.unfold(x, 4, stride=4) | x=f32[b,3,8,12]
F.fold(x, (4, 5), 2), F.fold(x, (4, 5), (2, 2), padding=0) | x=f32[b,8,12]
F.fold(x, (6, 6), 3, stride=2, padding=1) | x=f32[b,18,9]
F.fold(F.unfold(x, 2, stride=2), (8, 6), 2, stride=2) | x=f32[b,3,8,6]
F.fold(F.unfold(x, 3, stride=2, padding=1), (x.shape[2], x.shape[3]), 3, stride=2, padding=1) | x=f32[b,2,h,w]
F.fold(F.unfold(x, 2, stride=3, dilation=2), (x.shape[2], x.shape[3]), 2, stride=3, dilation=2) | x=f16[b,2,h,w]
# types
x[1:], x[:, 0], torch.cat([x, x]), torch.stack([x, x]), x.flip(0), x.roll(1, 0), x.t(), x.repeat(2, 1), x.gather(0, (x * 0).long()), x.expand(2, -1, -1) | x=bool[b,s] | b>=2
x[1:], x[:, 0], torch.cat([x, x]), torch.stack([x, x]), x.flip(0), x.roll(1, 0), x.t(), x.repeat(2, 1), x.gather(0, (x * 0).long()), x.expand(2, -1, -1) | x=f16[b,s] | b>=2
x = x.bfloat16();y = torch.cat([x[1:], torch.stack([x, x])[1].flip(0), x.roll(1, 0), x.expand(2, -1, -1)[0]]);return y.float(), x.t().float(), x.gather(0, x[:1].long() * 0).float() | x=f32[b,s] | b>=2 from:13
x[1:], x[:, 0], torch.cat([x, x]), x.flip(0), x.t(), x.repeat(2, 1), x.scatter(0, x[:1].long() * 0, 3), x.expand(2, -1, -1) | x=i8[b,s] | b>=2
x[1:], x[:, 0], torch.cat([x, x]), x.flip(0), x.t(), x.repeat(2, 1), x.scatter(0, x[:1].long() * 0, 3), x.expand(2, -1, -1) | x=i16[b,s] | b>=2
"""
