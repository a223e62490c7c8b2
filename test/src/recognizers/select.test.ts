import { recognizerNames } from '../../../src/recognizers/names.ts';
import { selectRecognizer } from '../../../src/recognizers/select.ts';

test('every name → the recognizer of that name', async () => {
  const openai = { baseUrl: 'http://127.0.0.1:8000/v1', apiKey: undefined, model: 'small' };
  const sherpaOnnxModel = { folder: '/models/tiny' };
  const settings = {
    dataDir: '/data',
    sherpaOnnxModel,
    recognizerIdleMinutes: 10,
    diarizationThreshold: 0.5,
    recognizerLanguage: undefined,
    openai,
    openAiMaxRequests: 256,
  };
  const selected = await Promise.all(
    recognizerNames.map((recognizer) => selectRecognizer({ recognizer, ...settings })),
  );
  expect(selected.map(({ name }) => name)).toEqual([...recognizerNames]);
});
