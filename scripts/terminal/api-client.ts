/** The client that follows from our own contract: paths, parameters and answers are typed by codegen/api.ts. */
import createClient from 'openapi-fetch';
import type { Client } from 'openapi-fetch';
import type { paths } from '../../codegen/api.ts';

export type ApiClient = Client<paths>;

/** @param url where version 1 is served, such as `http://127.0.0.1:8080/v1` */
export function createApiClient(url: string, apiKey: string): ApiClient {
  return createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${apiKey}` } });
}
