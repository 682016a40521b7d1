import { ApiKeys } from '../../src/http/api/system/api-keys.ts';

/** Makes as many keys as its second argument says, one after the other, in the file that its first one names. */
const [path = '', count = '1'] = process.argv.slice(2);
for (let index = 0; index < Number(count); index += 1) {
  new ApiKeys(path).create({ name: `${process.pid} ${index}`, tenantId: 'default', scopes: ['calls:read'] }, 0);
}
