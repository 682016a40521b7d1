import { asterisk } from './asterisk/carrier.ts';
import { audiosocket } from './audiosocket/carrier.ts';
import { bandwidth } from './bandwidth/carrier.ts';
import { browser } from './browser/carrier.ts';
import type { Carrier } from './carrier.ts';
import { exotel } from './exotel/carrier.ts';
import { freeswitch } from './freeswitch/carrier.ts';
import { genesys } from './genesys/carrier.ts';
import { jambonz } from './jambonz/carrier.ts';
import { plivo, vobiz } from './plivo/carrier.ts';
import { signalwire } from './signalwire/carrier.ts';
import { acefone, astradial, smartflo } from './smartflo/carrier.ts';
import { telnyx } from './telnyx/carrier.ts';
import { twilio } from './twilio/carrier.ts';
import { vonage } from './vonage/carrier.ts';

/** All carriers; the only list of them. */
export const carriers: readonly Carrier[] = [
  twilio,
  asterisk,
  audiosocket,
  exotel,
  plivo,
  vobiz,
  telnyx,
  vonage,
  signalwire,
  jambonz,
  freeswitch,
  genesys,
  smartflo,
  acefone,
  astradial,
  bandwidth,
  browser,
];
