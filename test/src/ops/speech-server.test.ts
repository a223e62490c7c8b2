import { Registry } from 'prom-client';
import { showSpeechServer } from '../../../src/ops/speech-server.ts';
import type { ServerLoad } from '../../../src/ops/speech-server.ts';

test('no server hears the recordings → nothing of one; one does → what it has to do', async () => {
  const registry = new Registry();
  let load: ServerLoad | undefined;
  showSpeechServer(registry, () => load);
  const shown = async () =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#')); // prettier-ignore
  expect(await shown()).toEqual([]);
  const requests = { transcribed: 7, busy: 2, timed_out: 0, refused: 1, broken: 0 };
  load = { limit: 16, inFlight: 12, waiting: 30, speed: undefined, requests };
  const counted = [
    'transcription_speech_server_requests_total{outcome="transcribed"} 7',
    'transcription_speech_server_requests_total{outcome="busy"} 2',
    'transcription_speech_server_requests_total{outcome="timed_out"} 0',
    'transcription_speech_server_requests_total{outcome="refused"} 1',
    'transcription_speech_server_requests_total{outcome="broken"} 0',
  ];
  const gauges = [
    'transcription_speech_server_limit 16',
    'transcription_speech_server_in_flight 12',
    'transcription_speech_server_waiting 30',
  ];
  expect(await shown()).toEqual([...gauges, ...counted]);
  load.speed = 250;
  expect(await shown()).toEqual([...gauges, 'transcription_speech_server_speed 250', ...counted]);
});
