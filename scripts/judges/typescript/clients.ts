import { fets } from './fets.ts';
import { heyApi } from './hey-api.ts';
import { heyApiZod } from './hey-api-zod.ts';
import { judgeOfClient } from './judge-of-client.ts';
import { kubb } from './kubb.ts';
import { oazapfts } from './oazapfts.ts';
import { openapiFetch } from './openapi-fetch.ts';
import { typescriptAxios, typescriptFetch } from './openapi-generator.ts';
import { openapiTypescriptCodegen } from './openapi-typescript-codegen.ts';
import { orval } from './orval.ts';
import { prism } from './prism.ts';
import { rtkQuery } from './rtk-query.ts';
import { swaggerTypescriptApi } from './swagger-typescript-api.ts';
import { typedOpenapi } from './typed-openapi.ts';
import { zodios } from './zodios.ts';

export const typescriptClients = [
  ...[openapiFetch, heyApi, heyApiZod, orval, swaggerTypescriptApi, typescriptFetch, typescriptAxios],
  ...[openapiTypescriptCodegen, kubb, oazapfts, typedOpenapi, fets, zodios, rtkQuery, prism],
].map(judgeOfClient);
