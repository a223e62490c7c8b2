/** How tiny models tell tones: the mean energy of the low bins of the spectrum, less that of the high bins. */
import { constant, node, wholes } from './onnx.ts';

export const melBins = 80;
const [lowBins, firstHighBin] = [22, 45];

/** Of each bin: positive speaks for a low tone, negative for a high one. Their sum is 0, so loudness does not matter. */
export const towardsLow: readonly number[] = Array.from({ length: melBins }, (_, bin) => {
  if (bin < lowBins) return 1 / lowBins;
  return bin < firstHighBin ? 0 : -1 / (melBins - firstHighBin);
});

export interface ToneOfSecond {
  /** What the spectrum says, along `axis`, and how much of it is a second. */
  evidence: string;
  axis: number;
  perSecond: number;
  /** More than this speaks for a low tone, less than its negative for a high one. */
  enough: number;
  tokens: { low: number; high: number; nothing: number; end: number };
}

/**
 * Nodes that make the token `heard` for the second `second`: a low or a high tone, nothing, or the end of the sound
 * (`is over`). A tone lasts from 0.3 s to 0.7 s of its second.
 */
export function toneOfSecond({ evidence, axis, perSecond, enough, tokens }: ToneOfSecond): {
  nodes: Buffer[];
  constants: Buffer[];
} {
  return {
    nodes: [
      node('Mul', ['second', 'per second'], 'first step'),
      node('Add', ['first step', 'middle'], 'step'),
      node('Shape', [evidence], 'shape of evidence'),
      node('Gather', ['shape of evidence', 'axis'], 'steps'),
      node('Sub', ['steps', 'one step'], 'last step'),
      node('Greater', ['step', 'last step'], 'is over'),
      node('Min', ['step', 'last step'], 'step within'),
      node('Gather', [evidence, 'step within'], 'its evidence', { axis }),
      node('Reshape', ['its evidence', 'one step'], 'balance'),
      node('Greater', ['balance', 'enough'], 'is low'),
      node('Less', ['balance', 'too little'], 'is high'),
      node('Where', ['is high', 'high', 'nothing'], 'high or nothing'),
      node('Where', ['is low', 'low', 'high or nothing'], 'tone'),
      node('Where', ['is over', 'end', 'tone'], 'heard'),
    ],
    constants: [
      ...wholes({ axis, 'per second': perSecond, middle: Math.floor(perSecond / 2), 'one step': 1, ...tokens }),
      constant('enough', [1], Float32Array.of(enough)),
      constant('too little', [1], Float32Array.of(-enough)),
    ],
  };
}
