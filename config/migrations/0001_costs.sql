ALTER TABLE "offhook"."calls" ADD COLUMN "cost_micros" bigint;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "known_cost_micros" bigint;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "cost_currency" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "cost" jsonb;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "later_cost" jsonb;