import { words, say, useWords } from '../../words.ts';
import { Accordion, Anchor, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useFormat } from '../../parts/format.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Empty, Failure, Loading, Moment } from '../../parts/states.tsx';
import { type Progress, useAttempts, useDecision } from './queries.ts';
import { campaignWords } from './words.ts';

/** Each refusal of the dial gate in plain words, and what to do about it. */
const refusalWords = words(
  {
    'number-invalid': 'Not a number that can be called',
    'number-invalid: do': 'Correct the number in your list. A country for which the profile has no rules needs another profile.',
    suppressed: 'On a do-not-call list',
    'suppressed: do': 'Do not call these people. If an entry is wrong, take it off the list, with a reason.',
    'line-type': 'A line that is not called',
    'line-type: do': 'Premium, toll-free, pager and mailbox lines are not called. Ask for another number.',
    'destination-not-allowed': 'A destination that is not called',
    'destination-not-allowed: do':
      'Where these calls are wanted, add the country or the beginning of the number to the setting dialling.destinations.',
    'purpose-missing': 'The purpose, or an id for it, is missing',
    'purpose-missing: do': 'Make the campaign with a purpose, and with the registrations that the profile demands.',
    'no-consent': 'No consent that fits',
    'no-consent: do': 'Enter the consent with its evidence under Do-not-call and consents, or leave these people out.',
    'consent-expired': 'The consent is over',
    'consent-expired: do': 'Ask again, and enter the new consent.',
    'list-too-old': 'A list that must be checked is too old',
    'list-too-old: do': 'Obtain the list anew and import it with its date.',
    'caller-id-not-allowed': 'The caller id may not be used',
    'caller-id-not-allowed: do': 'Use a number that is among your caller ids, and of the series that the purpose needs.',
    'zone-unknown': 'The time zone is unknown',
    'zone-unknown: do': 'Give contacts a time zone in the file, or the campaign a default zone.',
    'cap-campaign': 'Called often enough in this campaign',
    'cap-campaign: do': 'Nothing to do: the cap of the rules was reached.',
    'cap-week': 'Called often enough for now',
    'cap-week: do': 'Nothing to do: they are called again when the cap allows it.',
    'cap-day': 'Called often enough today',
    'cap-day: do': 'Nothing to do: they are called again when a day has passed.',
    'ceiling-calls': 'Enough calls for today',
    'ceiling-calls: do':
      'Nothing to do: they are called on the next day. The ceilings are dialling.callsPerDay and callsPerDayOfKey.',
    'ceiling-cost': 'Today’s calls cost enough',
    'ceiling-cost: do':
      'Nothing to do: they are called on the next day. The ceilings are dialling.costPerDay and costPerDayOfKey.',
    'ceiling-spend': 'Today’s calls have cost the most they may',
    'ceiling-spend: do': 'Nothing to do: they are called on the next day. The limit is maximumPerDay, of spend or of the bot.',
    holiday: 'A holiday where they are',
    'holiday: do': 'Nothing to do: they are called on the next working day.',
    'outside-window': 'Outside of the hours in which they may be called',
    'outside-window: do': 'Nothing to do: they are called when their hours open. See the map of hours.',
    'too-soon': 'Too soon after the last call, or being called now',
    'too-soon: do': 'Nothing to do: they are called later.',
  },
  {
    'number-invalid': 'यह कॉल योग्य नंबर नहीं',
    'number-invalid: do': 'सूची में नंबर ठीक करें। जिस देश के नियम प्रोफ़ाइल में नहीं, उसके लिए दूसरी प्रोफ़ाइल चाहिए।',
    suppressed: 'कॉल-निषेध सूची में',
    'suppressed: do': 'इन लोगों को कॉल न करें। प्रविष्टि ग़लत हो तो कारण सहित सूची से हटाएँ।',
    'line-type': 'ऐसी लाइन जिसे कॉल नहीं की जाती',
    'line-type: do': 'प्रीमियम, टोल-फ्री, पेजर और मेलबॉक्स लाइनों को कॉल नहीं होती। दूसरा नंबर लें।',
    'destination-not-allowed': 'ऐसी जगह जहाँ कॉल नहीं की जाती',
    'destination-not-allowed: do': 'ये कॉल चाहिए तो देश या नंबर का आरंभ सेटिंग dialling.destinations में जोड़ें।',
    'purpose-missing': 'उद्देश्य या उसकी आईडी नहीं है',
    'purpose-missing: do': 'अभियान को उद्देश्य और प्रोफ़ाइल द्वारा माँगी गई आईडी के साथ बनाएँ।',
    'no-consent': 'उपयुक्त सहमति नहीं',
    'no-consent: do': 'सहमति को प्रमाण सहित दर्ज करें, या इन लोगों को छोड़ दें।',
    'consent-expired': 'सहमति समाप्त',
    'consent-expired: do': 'फिर से पूछें और नई सहमति दर्ज करें।',
    'list-too-old': 'जाँची जाने वाली सूची पुरानी है',
    'list-too-old: do': 'सूची नई लें और तिथि सहित आयात करें।',
    'caller-id-not-allowed': 'कॉलर आईडी की अनुमति नहीं',
    'caller-id-not-allowed: do': 'अपनी कॉलर आईडी में से, उद्देश्य के लिए आवश्यक श्रृंखला का नंबर लें।',
    'zone-unknown': 'समय क्षेत्र अज्ञात',
    'zone-unknown: do': 'फ़ाइल में समय क्षेत्र दें, या अभियान का डिफ़ॉल्ट क्षेत्र तय करें।',
    'cap-campaign': 'इस अभियान में पर्याप्त कॉल हो चुकीं',
    'cap-campaign: do': 'कुछ नहीं करना: नियमों की सीमा पूरी हुई।',
    'cap-week': 'फ़िलहाल पर्याप्त कॉल हो चुकीं',
    'cap-week: do': 'कुछ नहीं करना: सीमा अनुमति देगी तब फिर कॉल होगी।',
    'cap-day': 'आज पर्याप्त कॉल हो चुकीं',
    'cap-day: do': 'कुछ नहीं करना: एक दिन बाद फिर कॉल होगी।',
    'ceiling-calls': 'आज के लिए पर्याप्त कॉल',
    'ceiling-calls: do': 'कुछ नहीं करना: अगले दिन कॉल होगी। सीमाएँ dialling.callsPerDay और callsPerDayOfKey हैं।',
    'ceiling-cost': 'आज की कॉलों की लागत पूरी',
    'ceiling-cost: do': 'कुछ नहीं करना: अगले दिन कॉल होगी। सीमाएँ dialling.costPerDay और costPerDayOfKey हैं।',
    'ceiling-spend': 'आज की कॉलों की लागत सीमा पूरी',
    'ceiling-spend: do': 'कुछ नहीं करना: अगले दिन कॉल होगी। सीमा maximumPerDay है, spend की या बॉट की।',
    holiday: 'उनके यहाँ अवकाश',
    'holiday: do': 'कुछ नहीं करना: अगले कार्य दिवस पर कॉल होगी।',
    'outside-window': 'कॉल के अनुमत समय से बाहर',
    'outside-window: do': 'कुछ नहीं करना: समय खुलने पर कॉल होगी। समय का नक्शा देखें।',
    'too-soon': 'पिछली कॉल के बहुत जल्दी बाद, या अभी कॉल पर',
    'too-soon: do': 'कुछ नहीं करना: बाद में कॉल होगी।',
  },
);

/** Why calls were refused or put off: how often, what it means, what to do, and the calls behind it. */
export function Refusals({ id, progress }: { readonly id: string; readonly progress: Progress }): ReactNode {
  const w = useWords(campaignWords);
  const texts = useWords(refusalWords);
  const format = useFormat();
  const { refusals, putOff } = progress;
  const known = (name: string): name is RefusalName => name in texts;
  const names = [...new Set([...Object.keys(refusals), ...Object.keys(putOff).filter(known)])];
  const count = (name: string): number => (refusals[name] ?? 0) + (putOff[name] ?? 0);
  if (names.length === 0) return <Empty title={w.noRefusals}>{w.noRefusalsHint}</Empty>;
  return (
    <Stack>
      <Text fz="sm">{w.refusalsHint}</Text>
      <Accordion variant="contained">
        {names
          .sort((one, other) => count(other) - count(one))
          .map((name) => (
            <Accordion.Item key={name} value={name}>
              <Accordion.Control>
                <Group justify="space-between" wrap="nowrap" pr="sm">
                  <Stack gap={2}>
                    <Text fw={500}>{known(name) ? texts[name] : name}</Text>
                    <Text fz="sm" c="dimmed">
                      {known(name) ? texts[`${name}: do`] : ''}
                    </Text>
                  </Stack>
                  <Stack gap={0} align="end">
                    {refusals[name] === undefined ? null : (
                      <Text className="figures" fz="sm">
                        {say(w.refusedTimes, { count: format.number(refusals[name]) })}
                      </Text>
                    )}
                    {putOff[name] === undefined ? null : (
                      <Text className="figures" fz="sm" c="dimmed">
                        {say(w.putOffPeople, { count: format.number(putOff[name]) })}
                      </Text>
                    )}
                  </Stack>
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <RefusedCalls id={id} cause={name} />
              </Accordion.Panel>
            </Accordion.Item>
          ))}
      </Accordion>
    </Stack>
  );
}

type RefusalName = Exclude<keyof (typeof refusalWords)['en'], `${string}: do`>;

function RefusedCalls({ id, cause }: { readonly id: string; readonly cause: string }): ReactNode {
  const w = useWords(campaignWords);
  const { data, error, refetch } = useAttempts(id, { disposition: 'refused', cause });
  if (data === undefined) return error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />;
  if (data.attempts.length === 0) return <Text fz="sm">{w.putOffOnly}</Text>;
  return (
    <>
      <PlainTable
        label={w.rule}
        rows={data.attempts}
        keyOf={({ id: attempt }) => attempt}
        columns={[
          { title: w.when, renderCell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: w.number, renderCell: ({ to }) => <span className="figures">{to === '' ? w.erased : to}</span> },
          { title: w.rule, renderCell: ({ id: attempt }) => <Why attempt={attempt} /> },
        ]}
      />
      {data.next === null ? null : (
        <Text fz="xs" c="dimmed">
          {w.firstFifty}
        </Text>
      )}
    </>
  );
}

/** The gate's own words for one refusal. */
export function Why({ attempt }: { readonly attempt: string }): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const { data } = useDecision(attempt);
  if (data === undefined) return null;
  return (
    <>
      <Text fz="sm">{data.detail}</Text>
      {data.retryAt === null ? null : (
        <Text fz="xs" c="dimmed">
          {say(w.againAt, { time: format.time(data.retryAt) })}
        </Text>
      )}
    </>
  );
}

/** A link to what was said in a call. */
export function CallLink({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactNode {
  return (
    <Anchor component={Link} href={`/calls/${id}`} fz="sm">
      {children}
    </Anchor>
  );
}
