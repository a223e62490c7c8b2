export interface ModelFile {
  /** Where it is found. */
  path: string;
  /** The file's name in the model's folder. */
  name: string;
}

export interface ModelDescription {
  name: string;
  kind: 'recognition' | 'diarization' | 'voice detection';
  languages: string;
  /** By its kind and size, as published; not measured here. */
  speed?: 'fast' | 'medium' | 'slow';
  /** Which of its words have times: each, each sentence as a whole, or none. */
  times?: 'words' | 'sentences' | 'no';
  /** The size of all its files, for people. A download asks the hub. */
  bytes: number;
}
