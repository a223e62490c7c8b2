package main

import (
	"context"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

type kinOpenapi struct{ router routers.Router }

func newValidator(contract string) validator {
	loaded, err := openapi3.NewLoader().LoadFromFile(contract)
	must(err)
	must(loaded.Validate(context.Background()))
	// Without these it takes captions for an unknown type.
	for _, text := range []string{"text/vtt", "application/x-subrip", "text/markdown"} {
		openapi3filter.RegisterBodyDecoder(text, openapi3filter.PlainBodyDecoder)
	}
	router, err := gorillamux.NewRouter(loaded)
	must(err)
	return kinOpenapi{router}
}

var options = &openapi3filter.Options{
	AuthenticationFunc:                openapi3filter.NoopAuthenticationFunc,
	IncludeResponseStatus:             true,
	RejectWhenRequestBodyNotSpecified: true,
}

func (kin kinOpenapi) input(request *http.Request) *openapi3filter.RequestValidationInput {
	route, pathParams, err := kin.router.FindRoute(request)
	must(err)
	return &openapi3filter.RequestValidationInput{
		Request: request, PathParams: pathParams, Route: route, Options: options,
	}
}

func (kin kinOpenapi) validateRequest(request *http.Request) error {
	return openapi3filter.ValidateRequest(request.Context(), kin.input(request))
}

func (kin kinOpenapi) validateAnswer(request *http.Request, answer *http.Response) error {
	return openapi3filter.ValidateResponse(request.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: kin.input(request),
		Status:                 answer.StatusCode, Header: answer.Header, Body: answer.Body, Options: options,
	})
}
