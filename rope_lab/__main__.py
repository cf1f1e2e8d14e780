"""``python -m rope_lab`` is `rope-lab`: the package's ``__init__`` has dropped the folder that `-m` puts first."""

from rope_lab.cli import main

if __name__ == "__main__":
    main()
