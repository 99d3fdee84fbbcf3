"""What a release needs: `python -m release` is `make release-check`, smoke.py tries a wheel."""
