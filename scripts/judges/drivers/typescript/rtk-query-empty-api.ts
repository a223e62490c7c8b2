import { createApi, fetchBaseQuery } from '@reduxjs/toolkit/query';

/** What a store is for. */
export interface User {
  baseUrl: string;
  key: string;
}

/** Problems are JSON too. */
const isJsonContentType = (headers: Headers) => /[/+]json\b/.test(headers.get('content-type') ?? '');

/** The generated endpoints are put into it. */
export const emptyApi = createApi({
  baseQuery: (args, api, extraOptions) => {
    const { baseUrl, key } = api.extra as User;
    // Headers of the base query are lost where an operation has its own.
    const prepareHeaders = (headers: Headers) => headers.set('Authorization', `Bearer ${key}`);
    const service = fetchBaseQuery({ baseUrl, prepareHeaders, isJsonContentType, responseHandler: 'content-type' });
    return service(args, api, extraOptions);
  },
  // A program that ends need not wait until an answer is forgotten.
  keepUnusedDataFor: 0,
  endpoints: () => ({}),
});
