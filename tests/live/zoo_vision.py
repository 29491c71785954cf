"""Small networks over images, volumes and points, written the way they are written for real."""

import torch
from make_torch_case import case, rand
from torch import nn
from torch.nn import functional as F

IMAGE = "batch=2 h=32 w=48; batch=1 h=32 w=32; batch=3 h=64 w=32; batch=1 h=48 w=40; batch=2 h=33 w=47"
EVEN = "batch=2 h=32 w=48; batch=1 h=32 w=32; batch=3 h=64 w=32; batch=1 h=48 w=16"


def image(channels=3):
    return lambda batch, h, w: {"x": rand(batch, channels, h, w)}


def warm(module):
    """Running statistics and scales other than those a new module has."""
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
            part.running_mean.normal_(0, 0.2)
            part.running_var.uniform_(0.5, 1.5)
    return module


class Residual(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside)
        self.conv2, self.bn2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.short = None
        if stride != 1 or inside != outside:
            self.short = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        identity = x if self.short is None else self.short(x)
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += identity
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
                                  nn.MaxPool2d(3, 2, 1))
        self.layers = nn.Sequential(Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 16, 2))
        self.pool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(self.layers(self.stem(x)))
        return self.fc(torch.flatten(x, 1))


class SqueezeExcite(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down, self.up = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

    def forward(self, x):
        scale = F.adaptive_avg_pool2d(x, 1)
        return F.hardsigmoid(self.up(F.relu(self.down(scale)))) * x


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        blocks = [nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish()]
        for width, stride in ((8, 1), (8, 2)):
            blocks += [nn.Conv2d(width, 16, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish(inplace=True),
                       nn.Conv2d(16, 16, 5, stride, 2, groups=16, bias=False), nn.BatchNorm2d(16), SqueezeExcite(16),
                       nn.ReLU6(), nn.Conv2d(16, 8, 1, bias=False), nn.BatchNorm2d(8)]
        self.features, self.head = nn.Sequential(*blocks), nn.Linear(8, 5)

    def forward(self, x):
        return self.head(self.features(x).mean([2, 3]))


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, padding=1)
        self.norms = nn.ModuleList([nn.BatchNorm2d(6 + 4 * i) for i in range(3)])
        self.convs = nn.ModuleList([nn.Conv2d(6 + 4 * i, 4, 3, padding=1) for i in range(3)])

    def forward(self, x):
        features = [self.stem(x)]
        for norm, conv in zip(self.norms, self.convs):
            features.append(conv(F.relu(norm(torch.cat(features, 1)))))
        return F.avg_pool2d(torch.cat(features, 1), 2)


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.three = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 4, 3, padding=1)
        self.wide = nn.Sequential(nn.Conv2d(3, 4, (1, 7), padding=(0, 3)), nn.Conv2d(4, 4, (7, 1), padding=(3, 0)))

    def forward(self, x):
        pooled = F.avg_pool2d(x, 3, 1, 1)
        return torch.cat([self.one(x), self.three(x), self.wide(x), F.max_pool2d(pooled, 3, 1, 1)], dim=1)


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, 4)
        self.depthwise, self.norm = nn.Conv2d(8, 8, 7, padding=3, groups=8), nn.LayerNorm(8, eps=1e-6)
        self.up, self.down, self.scale = nn.Linear(8, 32), nn.Linear(32, 8), nn.Parameter(torch.ones(8) * 0.1)

    def forward(self, x):
        x = self.stem(x)
        y = self.depthwise(x).permute(0, 2, 3, 1)
        y = self.down(F.gelu(self.up(self.norm(y)))) * self.scale
        return x + y.permute(0, 3, 1, 2)


class ViT(nn.Module):
    """Patches, a class token, positions resized to the grid of the image."""

    def __init__(self):
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, 16, 8, 8), nn.Parameter(torch.randn(1, 1, 16))
        self.places = nn.Parameter(torch.randn(1, 16, 4, 4))
        self.block, self.head = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True), nn.Linear(16, 3)

    def forward(self, x):
        x = self.patch(x)
        places = F.interpolate(self.places, size=x.shape[-2:], mode="bilinear", align_corners=False)
        x = (x + places).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1)
        return self.head(self.block(x)[:, 0])


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 8, 8)
        self.tokens, self.channels = nn.Linear(24, 24), nn.Linear(8, 8)

    def forward(self, x):
        x = self.patch(x).flatten(2)
        x = x + F.gelu(self.tokens(x))
        return (x.transpose(1, 2) + self.channels(x.transpose(1, 2))).mean(1)


class Fpn(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.c3 = nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 6, 3, 2, 1), nn.Conv2d(6, 8, 3, 2, 1)
        self.l1, self.l2, self.l3 = nn.Conv2d(4, 4, 1), nn.Conv2d(6, 4, 1), nn.Conv2d(8, 4, 1)

    def forward(self, x):
        a = F.relu(self.c1(x))
        b = F.relu(self.c2(a))
        c = F.relu(self.c3(b))
        p3 = self.l3(c)
        p2 = self.l2(b) + F.interpolate(p3, size=b.shape[-2:], mode="nearest")
        p1 = self.l1(a) + F.interpolate(p2, size=a.shape[-2:], mode="nearest")
        return p1, p2, p3


class YoloHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 21, 8, 8)
        self.register_buffer("anchors", torch.rand(3, 2) * 10)

    def forward(self, x):
        y = self.conv(x)
        b, _, h, w = y.shape
        y = y.view(b, 3, 7, h, w).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        rows, cols = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        grid = torch.stack((cols, rows), 2).view(1, 1, h, w, 2).float()
        y[..., 0:2] = (y[..., 0:2] * 2 - 0.5 + grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchors.view(1, 3, 1, 1, 2)
        return y.view(b, -1, 7)


class Anchors(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.scores, self.boxes = nn.Conv2d(3, 8, 3, 4, 1), nn.Conv2d(8, 6, 1), nn.Conv2d(8, 8, 1)

    def forward(self, x):
        y = F.relu(self.body(x))
        h, w = y.shape[-2:]
        rows = (torch.arange(h, dtype=torch.float32) + 0.5) / h
        cols = (torch.arange(w, dtype=torch.float32) + 0.5) / w
        centres = torch.stack(torch.meshgrid(rows, cols, indexing="ij"), -1).reshape(-1, 1, 2).expand(-1, 2, 2)
        scores = self.scores(y).permute(0, 2, 3, 1).reshape(x.size(0), -1, 3).softmax(-1)
        boxes = self.boxes(y).permute(0, 2, 3, 1).reshape(x.size(0), -1, 4)
        middle = boxes[..., :2] * 0.1 + centres.reshape(-1, 2)
        best, where = scores[..., 1:].max(-1)
        top, places = best.topk(5, dim=1)
        return middle, top, torch.gather(boxes, 1, places.unsqueeze(-1).expand(-1, -1, 4)), where


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.ConvTranspose2d(6, 8, 4, 1, 0, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
                                 nn.ConvTranspose2d(8, 4, 4, 2, 1, bias=False), nn.BatchNorm2d(4), nn.LeakyReLU(0.2),
                                 nn.ConvTranspose2d(4, 1, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.net(z.view(z.size(0), -1, 1, 1))


class Espcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.Tanh(), nn.Conv2d(8, 9, 3, padding=1), nn.PixelShuffle(3))

    def forward(self, x):
        return torch.clamp(self.body(x), 0.0, 1.0), F.interpolate(x, scale_factor=3, mode="bicubic", align_corners=False)


class SegHead(nn.Module):
    """Atrous pyramid and a decoder that returns to the size of the input."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.branches = nn.ModuleList([nn.Conv2d(8, 4, 3, padding=r, dilation=r) for r in (1, 2, 4)])
        self.pooled, self.out = nn.Conv2d(8, 4, 1), nn.Conv2d(16, 3, 1)

    def forward(self, x):
        y = F.relu(self.stem(x))
        parts = [F.relu(branch(y)) for branch in self.branches]
        whole = self.pooled(F.adaptive_avg_pool2d(y, 1))
        parts.append(F.interpolate(whole, size=y.shape[2:], mode="bilinear", align_corners=False))
        y = self.out(torch.cat(parts, 1))
        return F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False).argmax(1)


class SwinBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.bias = nn.Parameter(torch.randn(49, 2))
        place = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        relative = (place[:, :, None] - place[:, None, :]).permute(1, 2, 0) + 3
        self.register_buffer("index", relative[..., 0] * 7 + relative[..., 1])

    def forward(self, x):
        b, h, w, c = x.shape
        y = torch.roll(self.norm(x), (-2, -2), (1, 2))
        y = y.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(y).reshape(-1, 16, 3, 2, 4).permute(2, 0, 3, 1, 4)
        bias = self.bias[self.index.view(-1)].view(16, 16, 2).permute(2, 0, 1)
        weights = (q @ k.transpose(-2, -1) / 2.0 + bias).softmax(-1)
        y = self.out((weights @ v).transpose(1, 2).reshape(-1, 16, c))
        y = y.view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return x + torch.roll(y, (2, 2), (1, 2))


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8), nn.ReLU(), nn.Conv1d(8, 12, 1))
        self.head = nn.Linear(12 + 3, 4)

    def forward(self, points):
        y = self.net(points.transpose(1, 2))
        whole = torch.max(y, 2, keepdim=True)[0].expand(-1, -1, points.shape[1]).transpose(1, 2)
        return self.head(torch.cat([whole, points], dim=-1))


class EdgeConv(nn.Module):
    """Nearest neighbours in feature space, gathered."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 8)

    def forward(self, points):
        places = torch.cdist(points, points).topk(4, largest=False)[1]
        b, n, _ = points.shape
        flat = (places + torch.arange(b).view(-1, 1, 1) * n).view(-1)
        near = points.reshape(b * n, 3)[flat].view(b, n, 4, 3)
        middle = points.unsqueeze(2).expand(-1, -1, 4, -1)
        return F.leaky_relu(self.net(torch.cat([near - middle, middle], -1))).amax(2)


class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv3d(1, 4, 3, padding=1), nn.InstanceNorm3d(4), nn.ReLU(), nn.MaxPool3d(2),
                                 nn.Conv3d(4, 4, 3, padding=1), nn.GroupNorm(2, 4))

    def forward(self, x):
        return F.interpolate(self.net(x), scale_factor=2, mode="trilinear", align_corners=False)


class StyleBlock(nn.Module):
    """A convolution whose weights a style modulates: a grouped convolution over the batch."""

    def __init__(self):
        super().__init__()
        self.weight, self.style = nn.Parameter(torch.randn(1, 6, 4, 3, 3)), nn.Linear(5, 4)

    def forward(self, x, s):
        b, c, h, w = x.shape
        weight = self.weight * self.style(s).view(b, 1, c, 1, 1)
        weight = weight * torch.rsqrt(weight.pow(2).sum([2, 3, 4], keepdim=True) + 1e-8)
        y = F.conv2d(x.reshape(1, b * c, h, w), weight.view(b * 6, c, 3, 3), padding=1, groups=b)
        return y.view(b, 6, h, w)


class Warp(nn.Module):
    """A spatial transformer: the network chooses the grid it samples at."""

    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(2, 4, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d((3, 3)), nn.Flatten(),
                                    nn.Linear(36, 6))

    def forward(self, x):
        theta = self.locate(x).view(-1, 2, 3)
        return F.grid_sample(x, F.affine_grid(theta, x.size(), align_corners=False), align_corners=False)


case("resnet", lambda: warm(ResNet()), image(), "x:0=batch,2=h,3=w", IMAGE)
case("mobilenet", lambda: warm(MobileNet()), image(), "x:0=batch,2=h,3=w", IMAGE)
case("densenet", lambda: warm(DenseNet()), image(), "x:0=batch,2=h,3=w", IMAGE)
case("inception", Inception, image(), "x:0=batch,2=h,3=w", IMAGE)
case("convnext", ConvNeXt, image(), "x:0=batch,2=h,3=w", IMAGE)
case("vit", ViT, image(), "x:0=batch,2=h,3=w", IMAGE)
case("mixer", Mixer, lambda batch: {"x": rand(batch, 3, 32, 48)}, "x:0=batch", "batch=2; batch=1; batch=3; batch=5")
case("fpn", Fpn, image(), "x:0=batch,2=h,3=w", IMAGE)
case("yolo_head", YoloHead, image(), "x:0=batch,2=h,3=w", IMAGE)
case("anchors", Anchors, image(), "x:0=batch,2=h,3=w", IMAGE)
case("generator", lambda: warm(Generator()), lambda batch: {"z": rand(batch, 6)}, "z:0=batch",
     "batch=2; batch=1; batch=3; batch=5")
case("espcn", Espcn, image(1), "x:0=batch,2=h,3=w", IMAGE, rtol=1e-3, atol=1e-4)
case("seg_head", SegHead, image(), "x:0=batch,2=h,3=w", IMAGE)
case("swin_block", SwinBlock, lambda batch, h, w: {"x": rand(batch, h, w, 8)}, "x:0=batch,1=h,2=w",
     "batch=2 h=8 w=12; batch=1 h=8 w=8; batch=3 h=4 w=16; batch=1 h=4 w=4")
case("pointnet", lambda: warm(PointNet()), lambda batch, n: {"points": rand(batch, n, 3)}, "points:0=batch,1=n",
     "batch=2 n=20; batch=1 n=20; batch=3 n=7; batch=1 n=1")
case("edge_conv", EdgeConv, lambda batch, n: {"points": rand(batch, n, 3)}, "points:0=batch,1=n",
     "batch=2 n=20; batch=1 n=20; batch=3 n=7; batch=1 n=4")
case("volume", Volume, lambda batch, d: {"x": rand(batch, 1, d, 8, 8)}, "x:0=batch,2=d",
     "batch=2 d=6; batch=1 d=6; batch=3 d=4; batch=1 d=9")
case("style_block", StyleBlock, lambda batch, h: {"x": rand(batch, 4, h, 8), "s": rand(batch, 5)}, "x:0=batch,2=h s:0=batch",
     "batch=2 h=6; batch=1 h=6; batch=3 h=4; batch=1 h=9")
case("warp", Warp, image(2), "x:0=batch,2=h,3=w", IMAGE, rtol=1e-3, atol=1e-4)
