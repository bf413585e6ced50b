package kubelet

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type stage int

const (
	stageWaiting stage = iota // not started yet
	stageStuck                // will never start: image, configuration
	stageRunning
	stageBackOff // failed, waits for its restart
	stageDone
)

// A containerRun is one container of a pod that is being played.
type containerRun struct {
	spec    *v1.Container
	part    part
	sidecar bool
	stage   stage
	// When the stage ends by itself; zero: never.
	until  time.Time
	status *v1.ContainerStatus
	// Exit code of the attempt that runs now, fixed when it starts.
	exitCode int32
}

func (c *containerRun) due(now time.Time) bool {
	return !c.until.IsZero() && !now.Before(c.until)
}

func (c *containerRun) wait(reason, message string) {
	c.status.State = v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
	c.status.Ready = false
	c.status.Started = new(bool)
}

// start begins an attempt. Attempt counts from 1 over all pods of the Job and decides fail-first.
func (c *containerRun) start(pod *v1.Pod, now time.Time, attempt int) {
	switch c.part.outcome.kind {
	case outcomeImagePull:
		c.stage = stageStuck
		c.until = now.Add(time.Second)
		detail := c.part.pullError
		if detail == "" {
			detail = "not found"
		}
		c.wait("ErrImagePull", fmt.Sprintf("failed to pull and unpack image %q: %s", c.spec.Image, detail))
		return
	case outcomeConfigError:
		c.stage = stageStuck
		c.wait("CreateContainerConfigError", fmt.Sprintf("configmap %q not found", c.spec.Name+"-config"))
		return
	case outcomeStartError:
		c.stage = stageRunning
		c.begin(pod, now)
		c.end(now, 128, "StartError", fmt.Sprintf("failed to create containerd task: exec: %q: executable file not found in $PATH", c.spec.Name))
		return
	}
	if c.part.problem != "" {
		c.stage = stageStuck
		c.wait("CreateContainerConfigError", c.part.problem)
		return
	}
	c.exitCode = c.part.outcome.exitCode
	if c.part.outcome.kind == outcomeFailFirst && attempt > c.part.outcome.failures {
		c.exitCode = 0
	}
	c.begin(pod, now)
	c.until = now.Add(c.part.lasts)
	if c.part.outcome.kind == outcomeHang || c.sidecar {
		c.until = time.Time{}
	}
}

func (c *containerRun) begin(pod *v1.Pod, now time.Time) {
	started := true
	c.stage = stageRunning
	c.status.State = v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}}
	c.status.Ready = true
	c.status.Started = &started
	c.status.ImageID = "sim.cronjob-monitor.io/" + c.spec.Image + "@sha256:" + digest(c.spec.Image)
	c.status.ContainerID = "sim://" + digest(string(pod.UID)+c.spec.Name+fmt.Sprint(c.status.RestartCount))
}

// endByItself ends an attempt whose time is over.
func (c *containerRun) endByItself(now time.Time) {
	switch {
	case c.part.outcome.kind == outcomeOOM:
		c.end(now, 137, "OOMKilled", "")
	case c.exitCode == 0:
		c.end(now, 0, "Completed", "")
	default:
		c.end(now, c.exitCode, "Error", "")
	}
}

func (c *containerRun) end(now time.Time, exitCode int32, reason, message string) {
	startedAt := metav1.NewTime(now)
	if c.status.State.Running != nil {
		startedAt = c.status.State.Running.StartedAt
	}
	c.stage = stageDone
	c.until = time.Time{}
	c.status.State = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: exitCode, Reason: reason, Message: message,
		StartedAt: startedAt, FinishedAt: metav1.NewTime(now), ContainerID: c.status.ContainerID,
	}}
	c.status.Ready = false
	c.status.Started = new(bool)
}

// backOff moves a failed container to its wait for a restart: none before the first, then doubling, as a kubelet does.
func (c *containerRun) backOff(pod *v1.Pod, now time.Time, base time.Duration) {
	c.status.LastTerminationState = c.status.State
	c.stage = stageBackOff
	delay := time.Duration(0)
	if c.status.RestartCount > 0 {
		delay = min(base<<min(c.status.RestartCount-1, 16), 5*time.Minute)
	}
	c.until = now.Add(delay)
	if delay > 0 {
		c.wait("CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
			delay, c.spec.Name, pod.Name, pod.Namespace, pod.UID))
	}
}

func (c *containerRun) failed() bool {
	return c.stage == stageDone && c.status.State.Terminated != nil && c.status.State.Terminated.ExitCode != 0
}

func (c *containerRun) everRan() bool {
	return c.stage == stageRunning || c.stage == stageDone || c.stage == stageBackOff
}
