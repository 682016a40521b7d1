import { words } from '../words.ts';

/** Names of pages and of their groups in the menu. */
export const menuWords = words(
  {
    monitor: 'Monitor',
    build: 'Build',
    manage: 'Manage',
    overview: 'Overview',
    live: 'Live',
    calls: 'Calls',
    'bad-calls': 'Bad calls',
    campaigns: 'Campaigns',
    bots: 'Bots',
    talk: 'Talk',
    evals: 'Evals',
    costs: 'Costs',
    system: 'System',
    audit: 'Audit',
    settings: 'Settings',
  },
  {
    monitor: 'निगरानी',
    build: 'निर्माण',
    manage: 'प्रबंधन',
    overview: 'सारांश',
    live: 'लाइव',
    calls: 'कॉल',
    'bad-calls': 'ख़राब कॉल',
    campaigns: 'अभियान',
    bots: 'बॉट',
    talk: 'बात करें',
    evals: 'परीक्षण',
    costs: 'लागत',
    system: 'सिस्टम',
    audit: 'ऑडिट',
    settings: 'सेटिंग',
  },
);

export type MenuName = keyof (typeof menuWords)['en'];
