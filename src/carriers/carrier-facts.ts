import { type AdapterConfigs } from '../config/setting.ts';
import type { Carrier } from './carrier.ts';
import { controlOf, isConfigured } from './open-carriers.ts';

/** How far a carrier is configured: its calls are accepted from anywhere, and its account can act on them. */
export type Configured = 'no' | 'calls' | 'calls and control' | 'control';

export function configuredFor(carrier: Carrier, configs: AdapterConfigs): Configured {
  const parts = [
    ...(carrier.proof === undefined || isConfigured(carrier, configs) ? ['calls'] : []),
    ...(controlOf(carrier, configs) === undefined ? [] : ['control']),
  ];
  return parts.length === 0 ? 'no' : (parts.join(' and ') as Configured);
}

const yes = (is: boolean): string => (is ? 'yes' : 'no');

/** A carrier's abilities in a few words each, by table heading. */
export function carrierFacts({ capabilities, offers }: Carrier): Readonly<Record<string, string>> {
  return {
    'audio in': offers.audio.from,
    'audio out': offers.audio.to,
    'proves webhooks by': offers.proof.webhook,
    'proves sockets by': offers.proof.socket,
    'takes audio back': yes(capabilities.clear === 'native'),
    marks: yes(capabilities.marks === 'native'),
    'keys out': capabilities.dtmfOut,
    dials: yes(offers.dials),
    'detects machines': yes(offers.detectsMachines),
    transfer: offers.transfer,
    'joins calls': yes(offers.joins),
    listens: yes(offers.listens),
    'goes on': yes(capabilities.comesBack === true),
  };
}
