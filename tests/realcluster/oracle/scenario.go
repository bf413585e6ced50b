package oracle

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// Scenario is the life of one cluster, as the generator wrote it: what people and outages do, and how each run ends.
type Scenario struct {
	Seed  int64     `json:"seed"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	Steps []Step    `json:"steps"`
	// Runs holds, by name of the CronJob, what its Jobs do, one after the other and again from the start.
	Runs map[string][]Run `json:"runs"`
}

// Step is one thing that happens to the cluster from outside.
type Step struct {
	At time.Time `json:"at"`
	// Do is one of apply, delete, runNow, controllerDown, controllerUp, rejectJobs, acceptJobs.
	Do   string               `json:"do"`
	Name string               `json:"name,omitempty"`
	Spec *batchv1.CronJobSpec `json:"spec,omitempty"`
}

// Run is what the only container of a Job does.
type Run struct {
	Seconds   int  `json:"seconds"`
	Succeeded bool `json:"succeeded"`
}

// Slot is one instant at which the schedule asked for a run, and what became of it.
type Slot struct {
	UID string    `json:"uid"`
	At  time.Time `json:"at"`
	// Fate is ran, suspended, forbidden, or nothing when no Job came for another reason.
	Fate string `json:"fate"`
	// CreatedAt is when the Job of a slot that ran was made.
	CreatedAt *time.Time `json:"createdAt,omitempty"`
	// BlockedUntil is the end of the last Job that went on at a forbidden slot; absent: it never ended.
	BlockedUntil *time.Time `json:"blockedUntil,omitempty"`
	// NextAt is the following slot, of whatever spec.
	NextAt *time.Time `json:"nextAt,omitempty"`
	// DeadlineSeconds is startingDeadlineSeconds of the spec in force.
	DeadlineSeconds *int64 `json:"deadlineSeconds,omitempty"`
}
