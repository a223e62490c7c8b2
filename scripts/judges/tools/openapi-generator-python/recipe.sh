openapi_generator python packageName=generated
from_pypi mypy==2.4.1 types-python-dateutil --requirement=made/requirements.txt
cp driver.py made
(cd made && ../venv/bin/mypy driver.py)
venv/bin/python made/driver.py
