const { CONTRACT, API_URL } = process.env;

export default {
  api: {
    input: CONTRACT,
    output: { target: 'generated/api.ts', client: 'fetch', headers: true, baseUrl: API_URL },
  },
};
