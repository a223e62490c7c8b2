from_npm
rm -rf generated
node_modules/.bin/orval
typescript_main_job
