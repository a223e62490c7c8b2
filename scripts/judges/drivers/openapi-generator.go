// A day in the life of a client by openapi-generator (Go).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"driver/api"
)

func clientWith(token string) (*api.APIClient, context.Context) {
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Getenv("API_URL")}}
	return api.NewAPIClient(configuration), context.WithValue(context.Background(), api.ContextAccessToken, token)
}

func upload(ctx context.Context, client *api.APIClient, speakers int32) (*api.TranscriptionJob, error) {
	recording, err := os.Open(os.Getenv("AUDIO"))
	must(err)
	defer func() { _ = recording.Close() }()
	request := client.TranscriptionsAPI.CreateTranscription(ctx).File(recording).IdempotencyKey(os.Getenv("RUN_ID"))
	if speakers > 0 {
		request = request.Speakers(speakers)
	}
	job, _, err := request.Execute()
	return job, err
}

func finalTranscript(ctx context.Context, client *api.APIClient, id string) *api.Transcript {
	for {
		transcript, _, err := client.SessionsAPI.GetTranscript(ctx, id).Wait(30).Include(api.WORDS).Execute()
		must(err)
		if transcript.Status == api.COMPLETED || transcript.Status == api.FAILED {
			return transcript
		}
	}
}

func codeOf(err error) string {
	var answer *api.GenericOpenAPIError
	if !errors.As(err, &answer) {
		log.Fatalf("no typed error: %v", err)
	}
	problem, isProblem := answer.Model().(api.Problem)
	if !isProblem {
		log.Fatalf("no problem: %s", answer.Body())
	}
	return problem.Code
}

func main() {
	client, ctx := clientWith(os.Getenv("API_KEY"))
	job, err := upload(ctx, client, 0)
	must(err)
	transcript := finalTranscript(ctx, client, job.SessionId)

	statuses := []api.SessionStatus{api.COMPLETED, api.FAILED}
	page, _, err := client.SessionsAPI.ListSessions(ctx).Limit(5).Status(statuses).Execute()
	must(err)
	stranger, asStranger := clientWith("wrong")
	_, _, refused := stranger.SessionsAPI.ListSessions(asStranger).Execute()
	_, _, unknown := client.SessionsAPI.GetSession(ctx, os.Getenv("RUN_ID")).Execute()
	_, reused := upload(ctx, client, 1)

	var text []string
	words := 0
	for _, segment := range transcript.Segments {
		text = append(text, segment.Text)
		words += len(segment.Words)
	}
	experience, err := json.Marshal(map[string]any{
		"listed":   len(page.Items),
		"segments": len(transcript.Segments),
		"text":     strings.Join(text, " "),
		"words":    words,
		"problems": []string{codeOf(refused), codeOf(unknown), codeOf(reused)},
	})
	must(err)
	fmt.Println(string(experience))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
