// A day in the life of a client by oapi-codegen.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"driver/api"
)

var ctx = context.Background()

func clientWith(token string) *api.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	client, err := api.NewClientWithResponses(os.Getenv("API_URL"), api.WithRequestEditorFn(authorize))
	must(err)
	return client
}

// The form is the caller's own work: oapi-codegen hands a multipart body over as a reader.
func upload(client *api.ClientWithResponses, speakers string) *api.CreateTranscriptionResponse {
	recording, err := os.ReadFile(os.Getenv("AUDIO"))
	must(err)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", filepath.Base(os.Getenv("AUDIO")))
	must(err)
	_, err = io.Copy(file, bytes.NewReader(recording))
	must(err)
	if speakers != "" {
		must(form.WriteField("speakers", speakers))
	}
	must(form.Close())
	key := os.Getenv("RUN_ID")
	params := &api.CreateTranscriptionParams{IdempotencyKey: &key}
	answer, err := client.CreateTranscriptionWithBodyWithResponse(ctx, params, form.FormDataContentType(), &body)
	must(err)
	return answer
}

func finalTranscript(client *api.ClientWithResponses, id uuid.UUID) *api.Transcript {
	wait, include := api.Wait(30), api.Words
	params := &api.GetTranscriptParams{Wait: &wait, Include: &include}
	for {
		answer, err := client.GetTranscriptWithResponse(ctx, id, params)
		must(err)
		if answer.JSON200 == nil {
			log.Fatalf("no transcript: %s", answer.Status())
		}
		if status := answer.JSON200.Status; status == api.Completed || status == api.Failed {
			return answer.JSON200
		}
	}
}

func main() {
	client := clientWith(os.Getenv("API_KEY"))
	accepted := upload(client, "")
	if accepted.JSON202 == nil {
		log.Fatalf("not accepted: %s", accepted.Status())
	}
	transcript := finalTranscript(client, accepted.JSON202.SessionId)

	limit, statuses := api.Limit(5), api.Status{api.Completed, api.Failed}
	list, err := client.ListSessionsWithResponse(ctx, &api.ListSessionsParams{Limit: &limit, Status: &statuses})
	must(err)
	refused, err := clientWith("wrong").ListSessionsWithResponse(ctx, &api.ListSessionsParams{})
	must(err)
	unknown, err := client.GetSessionWithResponse(ctx, uuid.MustParse(os.Getenv("RUN_ID")))
	must(err)
	reused := upload(client, "1")

	var text []string
	words := 0
	for _, segment := range transcript.Segments {
		text = append(text, segment.Text)
		words += len(*segment.Words)
	}
	experience, err := json.Marshal(map[string]any{
		"listed":   len(list.JSON200.Items),
		"segments": len(transcript.Segments),
		"text":     strings.Join(text, " "),
		"words":    words,
		"problems": []string{
			refused.ApplicationproblemJSON401.Code,
			unknown.ApplicationproblemJSON404.Code,
			reused.ApplicationproblemJSON422.Code,
		},
	})
	must(err)
	fmt.Println(string(experience))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
