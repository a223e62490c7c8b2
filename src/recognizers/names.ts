/** What `RECOGNIZER` may say, the default first. Apart from the recognizers: the API reads it and loads none of them. */
export const recognizerNames = ['pocketsphinx', 'sherpa-onnx', 'openai'] as const;

export type RecognizerName = (typeof recognizerNames)[number];
