/**
 * The values of `RECOGNIZER`, the default first. In a file of its own, because the API reads it and must not load the
 * recognizers.
 */
export const recognizerNames = ['sherpa-onnx', 'openai'] as const;

export type RecognizerName = (typeof recognizerNames)[number];

/** What may be there in place of a wrong value. Earlier versions had PocketSphinx, and some will still ask for it. */
export const recognizersInsteadOf = (wrong: string | undefined): string =>
  wrong?.trim() === 'pocketsphinx' ? 'sherpa-onnx, which has taken its place, or openai' : recognizerNames.join(', ');
