"""Make `rentals.csv`, the table of the tutorial: 400 made-up days of a bicycle rental."""

import csv
import datetime
from pathlib import Path

import numpy as np

N = 400
FILE = Path(__file__).with_suffix(".csv")


def rentals() -> dict[str, list]:
    """Return the columns by name."""
    rng = np.random.default_rng(0)
    first = datetime.date(2023, 3, 1)
    days = [first + datetime.timedelta(days=day) for day in range(N)]
    season = np.array([day.month % 12 // 3 for day in days])  # winter, spring, summer, fall
    temperature = np.array([3.0, 11.0, 21.0, 12.0])[season] + rng.normal(0, 5, N)
    felt = temperature + rng.normal(0, 1, N)
    humidity = 75 - 0.8 * temperature + rng.normal(0, 8, N)
    wind = rng.gamma(2.0, 2.0, N)
    workday = np.array([day.weekday() < 5 for day in days])
    station = rng.integers(1, 7, N)
    event = rng.choice(["none", "fair", "marathon"], N, p=[0.88, 0.08, 0.04])
    rented = 60 + 3.0 * temperature - 0.5 * humidity - 5.0 * wind + 25 * workday
    rented += np.array([0, 10, 45, -20, 30, 5, -35])[station] + 60 * (event == "fair")
    rented = np.maximum(0, rented + rng.normal(0, 12, N)).round().astype(int)
    columns = {
        "reading": [f"R{number:05d}" for number in rng.permutation(N)],
        "day": [day.isoformat() for day in days],
        "season": np.array(["winter", "spring", "summer", "fall"])[season].tolist(),
        "temperature": temperature.round(1).tolist(),
        "felt temperature": felt.round(1).tolist(),
        "humidity": humidity.round(0).astype(int).tolist(),
        "wind": wind.round(1).tolist(),
        "workday": np.where(workday, "yes", "no").tolist(),
        "station": station.tolist(),
        "event": event.tolist(),
        "rented": rented.tolist(),
        "demand": np.array(["low", "normal", "high"])[np.digitize(rented, [50, 110])].tolist(),
    }
    for row in rng.choice(N, 6, replace=False):
        columns["humidity"][row] = ""  # the sensor failed
    return columns


def main() -> None:
    """Write the file."""
    columns = rentals()
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


if __name__ == "__main__":
    main()
