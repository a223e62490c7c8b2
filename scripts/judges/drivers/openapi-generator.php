<?php
// A day in the life of a client by openapi-generator (PHP).
declare(strict_types=1);

use Generated\Api\SessionsApi;
use Generated\Api\TranscriptionsApi;
use Generated\ApiException;
use Generated\Configuration;
use Generated\Model\Problem;
use Generated\Model\SessionStatus;
use Generated\Model\Transcript;
use Generated\Model\TranscriptInclude;
use Generated\Model\TranscriptionJob;

require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/made/lib/' . str_replace(['Generated\\', '\\'], ['', '/'], $class) . '.php';
    if (is_file($file)) {
        require $file;
    }
});
// Not even a deprecation passes.
set_error_handler(function (int $level, string $message, string $file, int $line): bool {
    throw new ErrorException($message, 0, $level, $file, $line);
});

function configurationOf(string $key): Configuration
{
    return (new Configuration())->setHost(getenv('API_URL'))->setAccessToken($key);
}

function upload(Configuration $user, ?int $speakers = null): TranscriptionJob
{
    $recording = new SplFileObject(getenv('AUDIO'), 'rb');
    return (new TranscriptionsApi(config: $user))->createTranscription($recording, getenv('RUN_ID'), speakers: $speakers);
}

function finalTranscript(SessionsApi $sessions, string $id): Transcript
{
    while (true) {
        $transcript = $sessions->getTranscript($id, 30, TranscriptInclude::WORDS);
        if (in_array($transcript->getStatus(), [SessionStatus::COMPLETED, SessionStatus::FAILED], true)) {
            return $transcript;
        }
    }
}

function codeOf(callable $request): string
{
    try {
        $request();
    } catch (ApiException $refusal) {
        $problem = $refusal->getResponseObject();
        if ($problem instanceof Problem) {
            return $problem->getCode();
        }
    }
    throw new Exception('no typed error');
}

$user = configurationOf(getenv('API_KEY'));
$sessions = new SessionsApi(config: $user);
$stranger = new SessionsApi(config: configurationOf('wrong'));
$sessionId = upload($user)->getSessionId();
$segments = finalTranscript($sessions, $sessionId)->getSegments();
$final = [SessionStatus::COMPLETED, SessionStatus::FAILED];
echo json_encode([
    'listed' => count($sessions->listSessions(5, null, $final)->getItems()),
    'status' => $sessions->getSession($sessionId)->getStatus(),
    'segments' => count($segments),
    'text' => implode(' ', array_map(fn ($segment) => $segment->getText(), $segments)),
    'words' => array_sum(array_map(fn ($segment) => count($segment->getWords() ?? []), $segments)),
    'problems' => [
        codeOf(fn () => $stranger->listSessions()),
        codeOf(fn () => $sessions->getSession(getenv('RUN_ID'))),
        codeOf(fn () => upload($user, 1)),
    ],
]), "\n";
