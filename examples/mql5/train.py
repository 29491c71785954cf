#!/usr/bin/env python3
"""train.py [CLOSES.csv]: trains an LSTM that forecasts the next close from the last 120, and saves what MetaTrader needs.

Writes m.pt (the traced program) and mean_std.json (how closes were normalised) into the working folder. The CSV has a
header with a column "close" (any case, MetaTrader's <CLOSE> too), the oldest row first; without one closes are made up.
"""
import csv
import json
import sys

import torch
from torch import nn

WINDOW, HIDDEN, STEPS, BATCH = 120, 16, 400, 64


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, closes):
        states, _ = self.lstm(closes)
        return self.head(states[:, -1])


def read_closes(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        dialect = csv.Sniffer().sniff(file.read(4096), ",;\t")
        file.seek(0)
        rows = csv.DictReader(file, dialect=dialect)
        column = next(name for name in rows.fieldnames if name.strip("<> ").lower() == "close")
        return torch.tensor([float(row[column]) for row in rows])


def made_up_closes(count=6000):
    """Waves of two lengths and noise around 1.1."""
    hours = torch.arange(count, dtype=torch.float32)
    waves = 0.003 * torch.sin(hours / 24 * 2 * torch.pi) + 0.004 * torch.sin(hours / 101 * 2 * torch.pi)
    return 1.1 + waves + 0.0005 * torch.randn(count)


def train(model, closes):
    """Closes are normalised. Each sample is a window and the close behind it."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(STEPS):
        starts = torch.randint(0, len(closes) - WINDOW, (BATCH,))
        places = starts[:, None] + torch.arange(WINDOW + 1)
        windows = closes[places][:, :, None]
        loss = nn.functional.mse_loss(model(windows[:, :WINDOW]), windows[:, WINDOW])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 99:
            print(f"step {step + 1}: loss {loss.item():.4f}")


def main():
    torch.manual_seed(1)
    closes = read_closes(sys.argv[1]) if len(sys.argv) > 1 else made_up_closes()
    mean, std = closes.mean().item(), closes.std().item()
    model = Forecaster()
    train(model, (closes - mean) / std)
    torch.jit.trace(model.eval(), torch.zeros(1, WINDOW, 1)).save("m.pt")
    with open("mean_std.json", "w", encoding="utf-8") as file:
        normalised = {"mean": [mean], "std": [std]}
        json.dump(normalised | {"outputs": {"forecast": normalised}}, file, indent=1)


if __name__ == "__main__":
    main()
