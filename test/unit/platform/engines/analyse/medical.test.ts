import { expect, it } from 'vitest';
import { medicalCorrections } from '../../../../../src/platform/engines/analyse/medical-terms.ts';
import { rewriteText } from '../../../../../src/platform/engines/script/codeswitch.ts';

it.each([
  ['take met formin and ibuprofin daily', 'take metformin and ibuprofen daily'],
  ['she has hyper tension and new monia', 'she has hypertension and new monia'],
  ['history of myocardial infraction, and asthema', 'history of myocardial infarction, and asthma'],
  ['parasitamol for the migrane.', 'paracetamol for the migraine.'],
  ['no die a beatus', 'no die a beatus'],
  ['the station is crowded with strangers', 'the station is crowded with strangers'],
  ['blood pressure is normal', 'blood pressure is normal'],
  ['निमोनीया है', 'निमोनिया है'],
])('corrects %s', (text, wanted) => expect(rewriteText(text, medicalCorrections)).toBe(wanted));
