"""What the commands `cards check` and `cards add` do once their command line has been read."""

from __future__ import annotations

from pathlib import Path

from rope_lab.training.experiments import card_packs


def check(source: Path, *, as_json: bool) -> bool:
    """Print what is wrong with each card; True if nothing is."""
    checks = card_packs.check(source)
    refused = [each for each in checks if not each.fine]
    if as_json:
        print(card_packs.as_json(checks))
    else:
        for each in refused:
            print("\n".join(f"{each.file}: {fault}" for fault in each.faults))
        print(f"{len(checks) - len(refused)} of {len(checks)} cards belong.")
    return not refused


def add(source: Path, *, results: Path, keep: bool) -> None:
    """Take the cards in and say which were there."""
    done = card_packs.add(source, root=results, keep=keep)
    for file in done["kept"]:
        print(f"{file}: kept the card that was there")
    print(f"{len(done['added'])} cards added to {results}.")
