// Makes config/dialling/number-zones.json from Google's time zones of phone numbers (libphonenumber, Apache-2.0), as the PyPI package
// `phonenumbers` carries them, and corrects them by the IANA time zone database's list of the zones of each country (public domain;
// Debian's package tzdata). Google names Paris for Algeria, for example, which is an hour wrong in summer.
// pip download --no-deps phonenumbers==9.0.43, unpack the wheel, then:
// npx tsx scripts/number-zones.ts phonenumbers/tzdata/data0.py 9.0.43 /usr/share/zoneinfo/zone.tab
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { getCountries, getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max';

const DAY_MS = 86_400_000;
/** Zones that the oldest supported Node does not know; another zone of their country has the same clock. */
const TOO_NEW = new Set(['America/Coyhaique']);

/** Areas of a country with many zones, where Google's zone is wrong. */
const RIGHT: Readonly<Record<string, readonly string[]>> = { '740': ['Europe/Kaliningrad'] };

const [file, version, zoneTab] = process.argv.slice(2);
if (file === undefined || version === undefined || zoneTab === undefined) {
  throw new TypeError('usage: number-zones.ts data0.py VERSION zone.tab');
}

/** Zones by prefix, as Google has them. */
const zonesOfPrefix = new Map<string, readonly string[]>();
for (const [, prefix = '', zones = ''] of readFileSync(file, 'utf8').matchAll(/^\s*'(\d+)':\s*\(([^)]*)\)/gmu)) {
  zonesOfPrefix.set(
    prefix,
    [...zones.matchAll(/'([^']+)'/gu)].map(([, zone = '']) => zone),
  );
}

/** Zones by country calling code, as IANA has them. */
const zonesOfCode = new Map<string, string[]>();
for (const line of readFileSync(zoneTab, 'utf8').split('\n')) {
  const [country = '', , zone] = line.split('\t');
  if (zone === undefined || line.startsWith('#') || !isSupportedCountry(country) || TOO_NEW.has(zone)) continue;
  const code = getCountryCallingCode(country);
  zonesOfCode.set(code, [...(zonesOfCode.get(code) ?? []), zone]);
}

for (const code of new Set(getCountries().map((country) => getCountryCallingCode(country)))) {
  const known = zonesOfCode.get(code);
  if (known === undefined) continue;
  const clocks = new Set(known.map((zone) => clockOf(zone)));
  for (const [prefix, zones] of zonesOfPrefix) {
    if (!prefix.startsWith(code)) continue;
    const right = zones.filter((zone) => clocks.has(clockOf(zone)));
    if (right.length < zones.length) set(prefix, RIGHT[prefix] ?? (right.length === 0 ? known : right));
  }
  // A number without an area may be anywhere in its country.
  const zones = zonesOfPrefix.get(code) ?? [];
  const covered = new Set(zones.map((zone) => clockOf(zone)));
  const missing = known.filter((zone) => {
    const isNew = !covered.has(clockOf(zone));
    covered.add(clockOf(zone));
    return isNew;
  });
  if (missing.length > 0) set(code, [...zones, ...missing]);
}

/** Prefixes by the zones they have in common; a prefix whose shorter prefix says the same is left out. */
const prefixesOfZones = new Map<string, string[]>();
for (const [prefix, zones] of [...zonesOfPrefix].sort(([one], [other]) => (one < other ? -1 : 1))) {
  const shorter = Array.from({ length: prefix.length - 1 }, (_, cut) => prefix.slice(0, prefix.length - 1 - cut));
  const parent = shorter.find((each) => zonesOfPrefix.has(each));
  const names = zones.join(' ');
  if (parent !== undefined && zonesOfPrefix.get(parent)?.join(' ') === names) continue;
  prefixesOfZones.set(names, [...(prefixesOfZones.get(names) ?? []), prefix]);
}
const groups = [...prefixesOfZones].map(([zones, prefixes]) => ({ zones, prefixes: prefixes.join(' ') }));
const document = {
  source: `Time zones by number prefix of libphonenumber, Copyright The Libphonenumber Authors, Apache-2.0; from phonenumbers ${version} on PyPI, corrected by the zones of each country in the IANA time zone database`,
  groups,
};
const target = fileURLToPath(new URL('../config/dialling/number-zones.json', import.meta.url));
writeFileSync(target, `${JSON.stringify(document, null, 2)}\n`);
process.stdout.write(`${zonesOfPrefix.size} prefixes in ${groups.length} groups\n`);

function set(prefix: string, zones: readonly string[]): void {
  process.stdout.write(`${prefix}: ${(zonesOfPrefix.get(prefix) ?? []).join(' ')} -> ${zones.join(' ')}\n`);
  zonesOfPrefix.set(prefix, zones);
}

/** What a zone's clock shows through two years: the same for zones that differ in their name only. */
function clockOf(zone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'short', hour: '2-digit', minute: '2-digit' });
  const start = Date.UTC(2026, 0, 1);
  return Array.from({ length: 244 }, (_, index) => format.format(start + index * 3 * DAY_MS)).join();
}
