ALTER TABLE "offhook"."calls" ADD COLUMN "recording_format" text;--> statement-breakpoint
ALTER TABLE "offhook"."calls" ADD COLUMN "recording_wanted" text;--> statement-breakpoint
CREATE INDEX "calls_to_compress" ON "offhook"."calls" USING btree ("ended_at_ms") WHERE recording_wanted IS NOT NULL AND NOT legal_hold;