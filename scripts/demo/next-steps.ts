import { quoted } from '../terminal/quoted.ts';

/**
 * The lines to paste after a first transcript. The key stays in its file, so it is not shown on screens or kept in
 * histories.
 */
export function nextSteps(options: { url: string; keyFile: string; audio: string; sessionId: string }): string {
  const { url, sessionId } = options;
  const authorization = `-H "Authorization: Bearer $(cat ${quoted(options.keyFile)})"`;
  return `
While the service runs, upload it yourself:
  curl ${authorization} -F file=@${quoted(options.audio)} ${url}/transcriptions

read this transcript again, as captions:
  curl ${authorization} -H "Accept: text/vtt" ${url}/sessions/${sessionId}/transcript

or do both with the client that comes with it:
  npm run --silent transcribe -- FILE --srt > captions.srt
`;
}
