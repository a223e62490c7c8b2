/** The model that the service uses, without the service: whole utterances, one question each. */
import { openAsBlob } from 'node:fs';
import { SpeechClient } from '../../src/recognizers/openai/client.ts';
import { ModelCopies } from '../../src/recognizers/sherpa-onnx/model-copies.ts';
import { readModelFolder } from '../../src/recognizers/sherpa-onnx/model-folder.ts';
import { languagesOf, modelLanguageCode } from '../../src/recognizers/sherpa-onnx/model-languages.ts';
import { createSlots } from '../../src/recognizers/in-pieces.ts';
import type { Config } from '../../src/config/config.ts';
import type { DecodedAudio } from '../../src/recognizers/recognizer.ts';

export interface Model {
  /** @param utterance `wav` is the same audio as the decoded one */
  hear(utterance: { wav: string; audio: DecodedAudio }, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

const timeLimitMs = () => 3_600_000;
const retries = 2;

/** The model of a service with that configuration. */
export function askedDirectly(config: Config): Promise<Model> | Model {
  return config.openai === undefined || config.recognizer !== 'openai'
    ? modelInSherpaOnnx(config)
    : modelAtServer(config.openai);
}

async function modelInSherpaOnnx({ sherpaOnnxModel: { folder }, recognizerLanguage }: Config): Promise<Model> {
  const model = await readModelFolder(folder);
  const language = modelLanguageCode(model, languagesOf(model, folder), recognizerLanguage);
  const copies = new ModelCopies(model, { slots: createSlots(1), timeLimitMs, idleMs: timeLimitMs(), most: 1 });
  await copies.tryOut();
  return {
    async hear({ audio: { file, durationMs } }, signal) {
      return (await copies.hear({ file, fromMs: 0, toMs: durationMs, language }, 1, signal)).text;
    },
    close: () => copies.close(),
  };
}

function modelAtServer(server: NonNullable<Config['openai']>): Model {
  const client = new SpeechClient(server, retries);
  return {
    async hear({ wav }, signal) {
      const file = new File([await openAsBlob(wav)], 'audio.wav', { type: 'audio/wav' });
      const answer = (await client.transcribe(file, 'json', { hints: {}, signal })) as { text: string };
      return answer.text;
    },
    close: () => client.close(),
  };
}
