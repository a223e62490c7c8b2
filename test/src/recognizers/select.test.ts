import { recognizerNames, selectRecognizer } from '../../../src/recognizers/select.ts';

test('every name → the recognizer of that name', () => {
  const selected = recognizerNames.map((recognizer) =>
    selectRecognizer({ recognizer, dataDir: '/data', sherpaOnnxModel: { folder: '/models/tiny' } }),
  );
  expect(selected.map(({ name }) => name)).toEqual([...recognizerNames]);
});
