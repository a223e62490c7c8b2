version=2.8.2
generator="github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v$version"
fetch go run "$generator" -version
mkdir -p api
go run "$generator" -generate types,client -package api -o api/api.go "$CONTRACT"
go_main_job
