/**
 * The values of `RECOGNIZER`, the default first. In a file of its own, because the API reads it and must not load the
 * recognizers.
 */
export const recognizerNames = ['sherpa-onnx', 'openai'] as const;

export type RecognizerName = (typeof recognizerNames)[number];
