"""The PyTorch networks of the speed table. NETS: name -> how to make it, its example inputs, its dynamic axes.

Every one is made under the same seed, traced, and exported by `anyshape export`."""

import torch
from torch import nn
from torch.nn import functional as F

BATCH, SEQUENCE = "x:0=batch", "x:0=batch,1=seq"
IMAGE = "x:0=batch,2=h,3=w"
TEXT = "ids:0=batch,1=seq mask:0=batch,1=seq"


def mlp(*widths):
    layers = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


class Recurrent(nn.Module):
    """A recurrent layer, and a Linear on its last step."""

    def __init__(self, kind, inputs, hidden, **options):
        super().__init__()
        self.layer = kind(inputs, hidden, batch_first=True, **options)
        self.head = nn.Linear(hidden * (2 if self.layer.bidirectional else 1), 1)

    def forward(self, x):
        return self.head(self.layer(x)[0][:, -1])


class TcnBlock(nn.Module):
    def __init__(self, inputs, width, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.first = nn.Conv1d(inputs, width, 3, dilation=dilation)
        self.second = nn.Conv1d(width, width, 3, dilation=dilation)
        self.short = nn.Conv1d(inputs, width, 1) if inputs != width else nn.Identity()

    def forward(self, x):
        y = F.relu(self.first(F.pad(x, (self.pad, 0))))
        y = F.relu(self.second(F.pad(y, (self.pad, 0))))
        return F.relu(y + self.short(x))


class Tcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*(TcnBlock(32 if i else 8, 32, 2**i) for i in range(4)))
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.blocks(x.transpose(1, 2))[:, :, -1])


def transformer():
    torch.backends.mha.set_fastpath_enabled(False)
    return nn.TransformerEncoder(
        nn.TransformerEncoderLayer(64, 4, 256, activation="gelu", batch_first=True), 2, enable_nested_tensor=False
    )


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x, bias):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (q.size(-1) ** 0.5) + bias, -1)
        mixed = (weights @ v).transpose(1, 2).reshape(x.size(0), x.size(1), -1)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, layers, width, heads, words=1000):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(BertLayer(width, heads) for _ in range(layers))

    def forward(self, ids, mask):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.size(1))))
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, bias)
        return x


def normed(inputs, outputs, kernel, stride=1, groups=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(*normed(inputs, outputs, 3, stride), nn.ReLU(), *normed(outputs, outputs, 3))
        self.short = nn.Sequential(*normed(inputs, outputs, 1, stride)) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def head(width, classes):
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes)]


def resnet():
    blocks = [(32, 32, 1), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    stem = [*normed(3, 32, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    return nn.Sequential(*stem, *(Residual(*block) for block in blocks), *head(128, 10))


def mobilenet():
    widths = [(16, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1)]
    layers = [*normed(3, 16, 3, 2), nn.ReLU6()]
    for inputs, outputs, stride in widths:
        layers += [*normed(inputs, inputs, 3, stride, inputs), nn.ReLU6(), *normed(inputs, outputs, 1), nn.ReLU6()]
    return nn.Sequential(*layers, *head(256, 10))


def twice(inputs, outputs):
    return nn.Sequential(*normed(inputs, outputs, 3), nn.ReLU(), *normed(outputs, outputs, 3), nn.ReLU())


class Unet(nn.Module):
    def __init__(self, widths=(16, 32, 64, 128)):
        super().__init__()
        self.down = nn.ModuleList(twice(a, b) for a, b in zip((3, *widths), widths))
        pairs = list(zip(widths, widths[1:]))[::-1]
        self.up = nn.ModuleList(nn.ConvTranspose2d(wide, narrow, 2, 2) for narrow, wide in pairs)
        self.join = nn.ModuleList(twice(2 * narrow, narrow) for narrow, _ in pairs)
        self.out = nn.Conv2d(widths[0], 1, 1)

    def forward(self, x):
        kept = []
        for block in self.down:
            x = block(F.max_pool2d(x, 2) if kept else x)
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([skip, up(x)], 1))
        return self.out(x)


def warm(module):
    """Running statistics other than those of a new module, so that there is something to fold."""
    for part in module.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.2)
            part.running_var.uniform_(0.5, 1.5)
    return module


def floats(*shape):
    return lambda: {"x": torch.randn(shape)}


def words(batch, seq):
    return lambda: {"ids": torch.ones(batch, seq, dtype=torch.int64), "mask": torch.ones(batch, seq, dtype=torch.int64)}


NETS = {
    "linear_10_5": (lambda: nn.Linear(10, 5), floats(2, 10), BATCH),
    "mlp_32_128": (lambda: mlp(32, 128, 128, 10), floats(2, 32), BATCH),
    "mlp_4x256": (lambda: mlp(*[256] * 5), floats(2, 256), BATCH),
    "mlp_4x768": (lambda: mlp(*[768] * 5), floats(2, 768), BATCH),
    "rnn_10_20": (lambda: Recurrent(nn.RNN, 10, 20), floats(2, 5, 10), SEQUENCE),
    "lstm_1_64": (lambda: Recurrent(nn.LSTM, 1, 64, num_layers=2), floats(2, 5, 1), SEQUENCE),
    "lstm_64_256": (lambda: Recurrent(nn.LSTM, 64, 256), floats(2, 5, 64), SEQUENCE),
    "bilstm_32_128": (lambda: Recurrent(nn.LSTM, 32, 128, bidirectional=True), floats(2, 5, 32), SEQUENCE),
    "gru_64_128": (lambda: Recurrent(nn.GRU, 64, 128, num_layers=2), floats(2, 5, 64), SEQUENCE),
    "tcn": (Tcn, floats(2, 40, 8), SEQUENCE),
    "transformer_64": (transformer, floats(2, 5, 64), SEQUENCE),
    "bert_mini": (lambda: Bert(4, 256, 4), words(2, 5), TEXT),
    "minilm": (lambda: Bert(6, 384, 12, 4000), words(2, 5), TEXT),
    "resnet": (resnet, floats(2, 3, 64, 96), IMAGE),
    "mobilenet": (mobilenet, floats(2, 3, 64, 96), IMAGE),
    "unet": (Unet, floats(2, 3, 64, 96), IMAGE),
}
