import { Box, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { say, useLanguage, useWords } from '../../words.ts';
import { hoursText, numberText, timeText } from './parts.tsx';
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
  const language = useLanguage();
  const told = (line: PlanLine): string => {
    switch (line.line) {
      case 'whom':
        return say(w.planWhom, { ...line, contacts: numberText(line.contacts, language) });
      case 'nobody':
        return say(w.planNobody, line);
      case 'hours':
        return say(w.planHours, { hours: hoursText(line.hours, language) });
      case 'profile hours':
        return say(w.planProfileHours, { profile: line.profile, hours: hoursText(line.hours, language) });
      case 'any hour':
        return say(w.planAnyHour, line);
      case 'pace':
        return say(line.leastMinutes > 1 ? w.planPace : w.planPaceShort, {
          ...line,
          minutes: numberText(line.leastMinutes, language),
        });
      case 'attempts':
        return say(w.planAttempts, line);
      case 'begins':
        return say(w.planBegins, { at: timeText(line.at, language) });
      case 'ends':
        return say(w.planEnds, { at: timeText(line.at, language) });
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
