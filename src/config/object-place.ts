/** Where uploaded audio is kept, if not in files: a bucket of an S3-compatible object store, or a part of one. */
export interface ObjectPlace {
  bucket: string;
  /** Stands before every key: empty, or a path that ends in a slash. */
  prefix: string;
  /** Of a self-hosted store. Undefined: AWS's own for the region. */
  endpoint: string | undefined;
  /** Undefined: as AWS's configuration files say. */
  region: string | undefined;
}
