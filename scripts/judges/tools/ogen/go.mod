module driver

go 1.25

require (
	github.com/google/uuid v1.6.0
	github.com/ogen-go/ogen v1.24.0
)
