import com.fasterxml.jackson.module.kotlin.readValue
import generated.apis.SessionsApi
import generated.apis.TranscriptionsApi
import generated.infrastructure.ApiClient
import generated.infrastructure.ClientError
import generated.infrastructure.ClientException
import generated.infrastructure.Serializer
import generated.models.Problem
import generated.models.SessionStatus
import generated.models.Transcript
import generated.models.TranscriptInclude
import generated.models.TranscriptionJob
import java.io.File
import java.util.UUID

val apiUrl: String = System.getenv("API_URL")
val runId: String = System.getenv("RUN_ID")
val sessions = SessionsApi(apiUrl)

/** All fields are given, since the client sends those that are left out as empty ones, which the service refuses. */
fun upload(speakers: Int): TranscriptionJob =
    TranscriptionsApi(apiUrl).createTranscription(File(System.getenv("AUDIO")), runId, 3000, "Recording", runId, 90, "mixed", "en", speakers, listOf("Okapi"))

fun finalTranscript(id: UUID): Transcript {
    while (true) {
        val transcript = sessions.getTranscript(id, wait = 30, include = TranscriptInclude.words)
        if (transcript.status == SessionStatus.completed || transcript.status == SessionStatus.failed) return transcript
    }
}

/** Errors are exceptions that carry the body as text; the type to read it with is generated. */
fun codeOf(request: () -> Any): String =
    try {
        error("no error but ${request()}")
    } catch (refusal: ClientException) {
        val answer = refusal.response as ClientError<*>
        Serializer.jacksonObjectMapper.readValue<Problem>(answer.body.toString()).code
    }

/** A day in the life of a client by openapi-generator (Kotlin). All clients of a program share one key. */
fun main() {
    ApiClient.accessToken = System.getenv("API_KEY")
    val sessionId = upload(1).sessionId
    val segments = finalTranscript(sessionId).segments
    val listed = sessions.listSessions(limit = 5, status = listOf(SessionStatus.completed, SessionStatus.failed))
    val status = sessions.getSession(sessionId).status
    val unknown = codeOf { sessions.getSession(UUID.fromString(runId)) }
    val reused = codeOf { upload(2) }
    ApiClient.accessToken = "wrong"
    val refused = codeOf { sessions.listSessions() }
    val experience =
        mapOf(
            "listed" to listed.items.size,
            "status" to status,
            "segments" to segments.size,
            "text" to segments.joinToString(" ") { it.text },
            "words" to segments.sumOf { it.words.orEmpty().size },
            "problems" to listOf(refused, unknown, reused),
        )
    println(Serializer.jacksonObjectMapper.writeValueAsString(experience))
}
