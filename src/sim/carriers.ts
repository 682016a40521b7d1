import { simulatedAsterisk, simulatedAudiosocket } from './asterisk/api.ts';
import { simulatedBandwidth } from './bandwidth/account.ts';
import { simulatedBrowser } from './browser/browser.ts';
import { simulatedExotel } from './exotel/api.ts';
import { simulatedFreeSwitch } from './freeswitch/freeswitch.ts';
import { simulatedGenesys } from './genesys/genesys.ts';
import { simulatedJambonz } from './jambonz/api.ts';
import { simulatedPlivo, simulatedVobiz } from './plivo/account.ts';
import type { SimulatedCarrier } from './simulated-carrier.ts';
import { simulatedAcefone, simulatedAstradial, simulatedSmartflo } from './smartflo/smartflo.ts';
import { simulatedTelnyx } from './telnyx/api.ts';
import { simulatedSignalwire, simulatedTwilio } from './twilio/api.ts';
import { simulatedVonage } from './vonage/api.ts';

/** Every simulated carrier there is, in the order of `carriers/registry.ts`: one line each. */
export const simulatedCarriers: readonly SimulatedCarrier[] = [
  simulatedTwilio,
  simulatedAsterisk,
  simulatedAudiosocket,
  simulatedExotel,
  simulatedPlivo,
  simulatedVobiz,
  simulatedTelnyx,
  simulatedVonage,
  simulatedSignalwire,
  simulatedJambonz,
  simulatedFreeSwitch,
  simulatedGenesys,
  simulatedSmartflo,
  simulatedAcefone,
  simulatedAstradial,
  simulatedBandwidth,
  simulatedBrowser,
];
