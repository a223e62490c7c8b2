// The main job by net/http, with every request and answer held against the contract.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"strings"
)

// An adapter beside this file says it in the words of a library.
type validator interface {
	validateRequest(request *http.Request) error
	// Given the request's answer, whose body can be read once more afterwards.
	validateAnswer(request *http.Request, answer *http.Response) error
}

var contract = newValidator(os.Args[1])

func send(request *http.Request, key string) (*http.Response, error) {
	request.Header.Set("Authorization", "Bearer "+key)
	if err := contract.validateRequest(request); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return http.DefaultClient.Do(request)
}

func ask(request *http.Request, key string) []byte {
	answer, err := send(request, key)
	must(err)
	body, err := io.ReadAll(answer.Body)
	must(err)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	must(contract.validateAnswer(request, answer))
	return body
}

func get(path string) *http.Request {
	request, err := http.NewRequest(http.MethodGet, os.Getenv("API_URL")+path, nil)
	must(err)
	return request
}

func upload(speakers string) *http.Request {
	recording, err := os.ReadFile(os.Getenv("AUDIO"))
	must(err)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	disposition := `form-data; name="file"; filename="talk.wav"`
	header := textproto.MIMEHeader{"Content-Disposition": {disposition}, "Content-Type": {"audio/x-wav"}}
	file, err := form.CreatePart(header)
	must(err)
	_, err = file.Write(recording)
	must(err)
	for _, term := range []string{"Dashwood", "Norland Park"} {
		must(form.WriteField("keyterms", term))
	}
	if speakers != "" {
		must(form.WriteField("speakers", speakers))
	}
	must(form.Close())
	request, err := http.NewRequest(http.MethodPost, os.Getenv("API_URL")+"/transcriptions", &body)
	must(err)
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Idempotency-Key", os.Getenv("RUN_ID"))
	return request
}

type transcript struct {
	Status   string
	Segments []struct {
		Text  string
		Words []any
	}
}

func finalTranscript(session, key string) transcript {
	for {
		read := decoded[transcript](ask(get(session+"/transcript?wait=30&include=words"), key))
		if read.Status == "completed" || read.Status == "failed" {
			return read
		}
	}
}

func mustRefuseWhatIsWrong(key string) {
	if _, err := send(get("/sessions?limit=0"), key); err == nil {
		log.Fatal("it validates no request")
	}
	request := get("/sessions?limit=1")
	answer, err := send(request, key)
	must(err)
	answer.Body = io.NopCloser(strings.NewReader(`{"items":[{"id":1}]}`))
	if contract.validateAnswer(request, answer) == nil {
		log.Fatal("it validates no answer")
	}
}

func main() {
	key := os.Getenv("API_KEY")
	session := "/sessions/" + decoded[struct{ SessionID string }](ask(upload(""), key)).SessionID
	read := finalTranscript(session, key)
	mustRefuseWhatIsWrong(key)
	var text []string
	words := 0
	for _, segment := range read.Segments {
		text = append(text, segment.Text)
		words += len(segment.Words)
	}
	list := ask(get("/sessions?limit=5&status=completed&status=failed"), key)
	experience, err := json.Marshal(map[string]any{
		"listed":   len(decoded[struct{ Items []any }](list).Items),
		"status":   decoded[transcript](ask(get(session), key)).Status,
		"segments": len(read.Segments),
		"text":     strings.Join(text, " "),
		"words":    words,
		"captions": string(ask(get(session+"/transcript?format=vtt"), key)),
		"problems": []string{
			code(ask(get("/sessions"), "wrong")),
			code(ask(get("/sessions/"+os.Getenv("RUN_ID")), key)),
			code(ask(upload("1"), key)),
		},
	})
	must(err)
	fmt.Println(string(experience))
}

func code(body []byte) string {
	return decoded[struct{ Code string }](body).Code
}

func decoded[Value any](body []byte) (value Value) {
	must(json.Unmarshal(body, &value))
	return value
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
