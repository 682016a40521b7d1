/**
 * Every arrow between the halls of `src`: a hall, and what its files may import besides files of the same hall. A folder inside a
 * hall that is listed here is a hall of its own. `types` names halls that may be imported with `import type` alone.
 */
export const ARROWS: Readonly<Record<string, { readonly uses: string; readonly types?: string }>> = {
  kernel: { uses: '' },
  // The registries say which settings a carrier or a speech vendor has.
  config: { uses: 'kernel carriers speech/vendors' },
  costs: { uses: 'config' },
  observability: { uses: 'kernel config' },
  audio: { uses: 'kernel' },
  language: { uses: 'kernel' },
  // What machines share: ports and their stores, which know no call.
  'hosts/shared-state': { uses: 'kernel observability' },
  carriers: { uses: 'kernel config observability audio hosts/shared-state' },
  'speech/models': { uses: 'kernel' },
  speech: { uses: 'kernel config observability audio speech/vendors' },
  'speech/vendors': { uses: 'kernel config observability audio speech' },
  dialog: { uses: 'kernel config costs observability audio language' },
  call: { uses: 'kernel config costs observability audio language carriers speech dialog hosts/shared-state records' },
  rehearsal: { uses: 'kernel config observability audio language carriers speech dialog call records', types: 'http' },
  records: { uses: 'kernel config costs observability audio language speech dialog call rehearsal' },
  alerts: { uses: 'kernel config costs observability records' },
  outbound: { uses: 'kernel config costs observability carriers call records' },
  http: {
    uses: 'kernel config costs alerts observability audio language carriers dialog call rehearsal records outbound hosts/shared-state',
  },
  hosts: {
    uses: 'kernel config costs alerts observability audio language carriers speech speech/models speech/vendors dialog call rehearsal records outbound http hosts/shared-state',
  },
  cli: {
    uses: 'kernel config costs observability audio language carriers speech speech/models speech/vendors dialog call rehearsal records outbound http hosts platform sim',
  },
  // The console asks the API: it knows the server by types.
  console: { uses: '', types: 'http records' },
  platform: { uses: 'kernel config observability audio speech/models' },
  // The stand-ins share no rule with what they test.
  sim: { uses: 'kernel audio' },
  'main.ts': { uses: 'config cli' },
};
