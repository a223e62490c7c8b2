package main

import (
	"errors"
	"net/http"
	"os"

	"github.com/pb33f/libopenapi"
	openapi "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	failures "github.com/pb33f/libopenapi-validator/errors"
)

type libopenapiValidator struct{ openapi.Validator }

func newValidator(contract string) validator {
	text, err := os.ReadFile(contract)
	must(err)
	document, err := libopenapi.NewDocument(text)
	must(err)
	made, errs := openapi.NewValidator(document,
		config.WithFormatAssertions(),
		config.WithStandardBodyDecoders(),
		config.WithRejectUnsupportedBodyContent(),
		config.WithRejectUndeclaredRequestBody(),
		// What is not declared is an error, but for headers of HTTP itself; it knows others of them.
		config.WithStrictMode(),
		config.WithStrictIgnoredHeadersExtra("Keep-Alive"),
	)
	must(errors.Join(errs...))
	_, found := made.ValidateDocument()
	must(joined(found))
	return libopenapiValidator{made}
}

func (lib libopenapiValidator) validateRequest(request *http.Request) error {
	_, found := lib.ValidateHttpRequest(request)
	return joined(found)
}

func (lib libopenapiValidator) validateAnswer(request *http.Request, answer *http.Response) error {
	_, found := lib.ValidateHttpResponse(request, answer)
	return joined(found)
}

func joined(found []*failures.ValidationError) error {
	var all []error
	for _, failure := range found {
		all = append(all, failure)
		for _, more := range failure.SchemaValidationErrors {
			all = append(all, more)
		}
	}
	return errors.Join(all...)
}
