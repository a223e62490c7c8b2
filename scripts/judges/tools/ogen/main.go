// A day in the life of a client by ogen.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	ogen "github.com/ogen-go/ogen/http"

	"driver/api"
)

var ctx = context.Background()

type key string

func (token key) ApiKey(context.Context, api.OperationName) (api.ApiKey, error) {
	return api.ApiKey{Token: string(token)}, nil
}

func clientWith(token string) *api.Client {
	client, err := api.NewClient(os.Getenv("API_URL"), key(token))
	must(err)
	return client
}

func upload(client *api.Client, speakers api.OptInt32) api.CreateTranscriptionRes {
	recording, err := os.Open(os.Getenv("AUDIO"))
	must(err)
	defer recording.Close()
	file := ogen.MultipartFile{Name: filepath.Base(recording.Name()), File: recording}
	form := &api.TranscriptionRequestMultipart{File: file, Speakers: speakers}
	params := api.CreateTranscriptionParams{IdempotencyKey: api.NewOptString(os.Getenv("RUN_ID"))}
	answer, err := client.CreateTranscription(ctx, form, params)
	must(err)
	return answer
}

func finalTranscript(client *api.Client, id uuid.UUID) api.Transcript {
	params := api.GetTranscriptParams{
		ID:      id,
		Wait:    api.NewOptInt32(30),
		Include: api.NewOptTranscriptInclude(api.TranscriptIncludeWords),
	}
	for {
		answer, err := client.GetTranscript(ctx, params)
		must(err)
		transcript := as[*api.TranscriptHeaders](answer).Response
		if transcript.Status == api.SessionStatusCompleted || transcript.Status == api.SessionStatusFailed {
			return transcript
		}
	}
}

func captions(client *api.Client, id uuid.UUID) string {
	format := api.NewOptTranscriptFormat(api.TranscriptFormatVtt)
	answer, err := client.GetTranscript(ctx, api.GetTranscriptParams{ID: id, Format: format})
	must(err)
	text, err := io.ReadAll(as[*api.GetTranscriptOKTextVttHeaders](answer).Response)
	must(err)
	return string(text)
}

func main() {
	client := clientWith(os.Getenv("API_KEY"))
	accepted := as[*api.TranscriptionJobHeaders](upload(client, api.OptInt32{})).Response
	transcript := finalTranscript(client, accepted.SessionId)

	final := []api.SessionStatus{api.SessionStatusCompleted, api.SessionStatusFailed}
	list, err := client.ListSessions(ctx, api.ListSessionsParams{Limit: api.NewOptInt32(5), Status: final})
	must(err)
	session, err := client.GetSession(ctx, api.GetSessionParams{ID: accepted.SessionId})
	must(err)
	refused, err := clientWith("wrong").ListSessions(ctx, api.ListSessionsParams{})
	must(err)
	unknown, err := client.GetSession(ctx, api.GetSessionParams{ID: uuid.MustParse(os.Getenv("RUN_ID"))})
	must(err)
	reused := upload(client, api.NewOptInt32(1))

	var text []string
	words := 0
	for _, segment := range transcript.Segments {
		text = append(text, segment.Text)
		words += len(segment.Words)
	}
	experience, err := json.Marshal(map[string]any{
		"listed":   len(as[*api.SessionPageHeaders](list).Response.Items),
		"status":   as[*api.SessionHeaders](session).Response.Status,
		"segments": len(transcript.Segments),
		"text":     strings.Join(text, " "),
		"words":    words,
		"captions": captions(client, accepted.SessionId),
		"problems": []string{
			as[*api.UnauthorizedHeaders](refused).Response.Code,
			as[*api.NotFoundHeaders](unknown).Response.Code,
			as[*api.UnprocessableHeaders](reused).Response.Code,
		},
	})
	must(err)
	fmt.Println(string(experience))
}

// An answer is one of the types of its operation.
func as[Answer any](answer any) Answer {
	wanted, is := answer.(Answer)
	if !is {
		log.Fatalf("%T: %+v", answer, answer)
	}
	return wanted
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
