version=0.29.1
from_pypi "openapi-python-client==$version" mypy==2.4.1
# It formats what it wrote with the ruff that came with it.
export PATH="$PWD/venv/bin:$PATH"
openapi-python-client generate --path "$CONTRACT" --output-path generated --overwrite --meta none --fail-on-warning
mypy driver.py generated
python -W error driver.py
