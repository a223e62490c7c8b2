import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import generated.ApiClient;
import generated.ApiException;
import generated.api.SessionsApi;
import generated.api.TranscriptionsApi;
import generated.model.Problem;
import generated.model.Segment;
import generated.model.SessionStatus;
import generated.model.Transcript;
import generated.model.TranscriptInclude;
import generated.model.TranscriptionJob;
import java.io.File;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;

/** A day in the life of a client by openapi-generator (Java, native). */
public final class OpenApiGenerator {
  private static final String RUN_ID = System.getenv("RUN_ID");
  private static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();

  private interface Request {
    Object send() throws ApiException;
  }

  private static ApiClient clientWith(String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("API_URL"));
    return client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
  }

  private static TranscriptionJob upload(ApiClient client, Integer speakers) throws ApiException {
    return new TranscriptionsApi(client).createTranscription(new File(System.getenv("AUDIO")), RUN_ID, null, null, null, null, null, null, speakers, List.of());
  }

  private static Transcript finalTranscript(ApiClient client, UUID id) throws ApiException {
    while (true) {
      Transcript transcript = new SessionsApi(client).getTranscript(id, 30, TranscriptInclude.WORDS, null, null, null);
      SessionStatus status = transcript.getStatus();
      if (status == SessionStatus.COMPLETED || status == SessionStatus.FAILED) {
        return transcript;
      }
    }
  }

  /** Errors are exceptions that carry the body as text; the type to read it with is generated. */
  private static String codeOf(Request request) throws JsonProcessingException {
    try {
      throw new AssertionError("no error but " + request.send());
    } catch (ApiException refusal) {
      return JSON.readValue(refusal.getResponseBody(), Problem.class).getCode();
    }
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = clientWith(System.getenv("API_KEY"));
    Transcript transcript = finalTranscript(client, upload(client, null).getSessionId());
    SessionsApi sessions = new SessionsApi(client);
    List<SessionStatus> statuses = List.of(SessionStatus.COMPLETED, SessionStatus.FAILED);
    int listed = sessions.listSessions(5, null, statuses, null, null, null, null, null).getItems().size();
    List<String> problems =
        List.of(
            codeOf(() -> new SessionsApi(clientWith("wrong")).listSessions(null, null, null, null, null, null, null, null)),
            codeOf(() -> sessions.getSession(UUID.fromString(RUN_ID))),
            codeOf(() -> upload(client, 1)));
    List<Segment> segments = transcript.getSegments();
    long words = segments.stream().map(Segment::getWords).filter(Objects::nonNull).mapToLong(List::size).sum();
    Map<String, Object> experience =
        Map.of(
            "listed", listed,
            "segments", segments.size(),
            "text", segments.stream().map(Segment::getText).collect(Collectors.joining(" ")),
            "words", words,
            "problems", problems);
    System.out.println(JSON.writeValueAsString(experience));
  }
}
