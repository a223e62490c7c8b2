version=1.24.0
generator="github.com/ogen-go/ogen/cmd/ogen@v$version"
fetch go run "$generator" -version
go run "$generator" -target api -package api --clean "$CONTRACT"
go_main_job
