import { Box, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat } from '../../parts/format.ts';
import { say, useWords } from '../../words.ts';
import { hoursText } from './parts.tsx';
import { planOf, type PlanLine, type PlannedCampaign, type PlanProfile } from './plan.ts';
import { campaignWords } from './words.ts';

/** What will happen, in plain sentences, before anybody is called. */
export function PlanSummary({
  campaign,
  profile,
  contacts,
}: {
  readonly campaign: PlannedCampaign;
  readonly profile: PlanProfile | undefined;
  readonly contacts: number;
}): ReactNode {
  const w = useWords(campaignWords);
  const format = useFormat();
  const told = (line: PlanLine): string => {
    switch (line.line) {
      case 'whom':
        return say(w.planWhom, { ...line, contacts: format.number(line.contacts) });
      case 'nobody':
        return say(w.planNobody, line);
      case 'hours':
        return say(w.planHours, { hours: hoursText(line.hours, format) });
      case 'profile hours':
        return say(w.planProfileHours, { profile: line.profile, hours: hoursText(line.hours, format) });
      case 'any hour':
        return say(w.planAnyHour, line);
      case 'pace':
        return say(line.leastMinutes > 1 ? w.planPace : w.planPaceShort, {
          ...line,
          minutes: format.number(line.leastMinutes),
        });
      case 'attempts':
        return say(w.planAttempts, line);
      case 'begins':
        return say(w.planBegins, { at: format.time(line.at) });
      case 'ends':
        return say(w.planEnds, { at: format.time(line.at) });
    }
  };
  return (
    <Paper withBorder p="md" component="section" aria-label={w.whatHappens}>
      <Text fw={600} mb="xs">
        {w.whatHappens}
      </Text>
      <Box component="ul" className="lines">
        {planOf(campaign, profile, contacts).map((line) => (
          <li key={line.line}>{told(line)}</li>
        ))}
      </Box>
    </Paper>
  );
}
