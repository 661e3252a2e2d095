# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# A Slurm of two nodes on this host, for one test: own munge key and socket, own controller and node
# daemons, all in a directory of the test and on ports of its own, so that a Slurm that the machine
# may have is neither used nor disturbed. Source after tests/lib.sh. It works as root and as an
# ordinary user.
# Must not: leave a daemon behind; every one started is ended by its process id at the end of the
# script. Its test is tests/cli/e2e/e2e_slurm.sh.

PATH=$PATH:/usr/sbin:/sbin
export PATH

# slurm_missing: prints why Slurm cannot be had here; nothing when it can.
slurm_missing() {
	for slurm_c in srun sinfo slurmctld slurmd munged; do
		have "$slurm_c" || { echo "no $slurm_c here"; return; }
	done
}

# slurm_port: prints a TCP port from which on five are not in use by anyone listening.
slurm_port() {
	slurm_p=$((20000 + $$ % 20000))
	while :; do
		slurm_busy=no
		for slurm_i in 0 1 2 3 4; do
			slurm_hex=$(printf '%04X' $((slurm_p + slurm_i)))
			if grep -qs "^ *[0-9]*: [0-9A-F]*:$slurm_hex [0-9A-F:]* 0A" /proc/net/tcp \
				/proc/net/tcp6; then
				slurm_busy=yes
			fi
		done
		[ "$slurm_busy" = yes ] || break
		slurm_p=$((slurm_p + 5))
	done
	echo "$slurm_p"
}

# slurm_mpi: the plugin that slurmstepd can load: PMIx where it is installed, else PMI-2, else none.
slurm_mpi() {
	for slurm_d in /usr/lib/*/slurm* /usr/lib64/slurm /usr/lib/slurm*; do
		for slurm_m in pmix pmi2; do
			if [ -e "$slurm_d/mpi_$slurm_m.so" ]; then
				echo "$slurm_m"
				return
			fi
		done
	done
	echo none
}

# slurm_cgroup: nothing here uses control groups; older versions have no word for that, and their
# plugin of the first kind does nothing unless it is used.
slurm_cgroup() {
	case $(slurmd -V 2>/dev/null) in
	*\ 2[0-3].*) echo cgroup/v1 ;;
	*) echo disabled ;;
	esac
}

# slurm_config DIR: writes DIR/slurm.conf for this host. The node has four times the processors of
# the machine, so that a job of several ranks starts on a small one; nothing is bound or confined.
slurm_config() {
	slurm_ctld_port=$(slurm_port)
	slurm_cpus=$(($(getconf _NPROCESSORS_ONLN) * 4))
	slurm_user=$(id -un)
	slurm_host=$(hostname -s 2>/dev/null || hostname)
	cat >"$1/slurm.conf" <<-CONF
		ClusterName=test
		SlurmctldHost=$slurm_host(127.0.0.1)
		SlurmUser=$slurm_user
		SlurmdUser=$slurm_user
		SlurmctldPort=$slurm_ctld_port
		AuthType=auth/munge
		AuthInfo=socket=$1/munge.socket
		CredType=cred/munge
		StateSaveLocation=$1/state
		SlurmdSpoolDir=$1/spool.%n
		SlurmctldPidFile=$1/slurmctld.pid
		SlurmdPidFile=$1/slurmd.%n.pid
		SlurmctldLogFile=$1/slurmctld.log
		SlurmdLogFile=$1/slurmd.%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		MpiDefault=$(slurm_mpi)
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=1,sched_min_interval=100000
		KillWait=2
		TmpFS=$1
		AccountingStorageType=accounting_storage/none
		JobAcctGatherType=jobacct_gather/none
		ReturnToService=2
		SlurmdParameters=config_overrides
		PlugStackConfig=$1/plugstack.conf
		NodeName=testnode NodeHostname=$slurm_host NodeAddr=127.0.0.1 \
		Port=$((slurm_ctld_port + 1)) CPUs=$slurm_cpus State=UNKNOWN
		NodeName=othernode NodeHostname=$slurm_host NodeAddr=127.0.0.1 \
		Port=$((slurm_ctld_port + 2)) CPUs=$slurm_cpus State=UNKNOWN
		PartitionName=test Nodes=testnode,othernode Default=YES MaxTime=INFINITE State=UP
	CONF
	: >"$1/plugstack.conf"
	echo "CgroupPlugin=$(slurm_cgroup)" >"$1/cgroup.conf"
}

# slurm_start: starts the daemons and waits until the node takes jobs. On failure says why (as
# commentary) and returns 1. Exports SLURM_CONF, which is all that srun needs.
slurm_start() {
	slurm_dir=$T/slurm
	mkdir -m 755 "$slurm_dir" "$slurm_dir/state" "$slurm_dir/spool.testnode" \
		"$slurm_dir/spool.othernode" || return 1
	slurm_config "$slurm_dir"
	SLURM_CONF=$slurm_dir/slurm.conf
	export SLURM_CONF
	slurm_pids=
	at_exit slurm_stop

	(umask 077 && head -c 1024 /dev/urandom >"$slurm_dir/munge.key")
	munged --foreground --force --key-file="$slurm_dir/munge.key" \
		--socket="$slurm_dir/munge.socket" \
		--pid-file="$slurm_dir/munged.pid" --log-file="$slurm_dir/munged.log" \
		--seed-file="$slurm_dir/munged.seed" \
		--num-threads=1 >"$slurm_dir/munged.out" 2>&1 &
	slurm_pids=$!
	slurm_wait "munged" 20 test -S "$slurm_dir/munge.socket" || return 1

	slurmctld -D -c -f "$SLURM_CONF" >"$slurm_dir/slurmctld.out" 2>&1 &
	slurm_pids="$! $slurm_pids"
	for slurm_node in testnode othernode; do
		slurmd -D -f "$SLURM_CONF" -N "$slurm_node" >"$slurm_dir/$slurm_node.out" 2>&1 &
		slurm_pids="$! $slurm_pids"
	done
	slurm_wait "idle nodes" 60 slurm_idle || return 1
}

slurm_idle() {
	timeout 10 sinfo -h -o '%t %D' 2>/dev/null | grep -q '^idle 2$'
}

# slurm_lives: none of the daemons has ended.
slurm_lives() {
	for slurm_pid in $slurm_pids; do kill -0 "$slurm_pid" 2>/dev/null || return 1; done
}

# slurm_wait WHAT SECONDS COMMAND...: until the command succeeds; the limit is a watchdog, not a
# claim.
slurm_wait() {
	slurm_what=$1
	slurm_end=$(($(date +%s) + $2))
	shift 2
	until "$@"; do
		if ! slurm_lives || [ "$(date +%s)" -ge "$slurm_end" ]; then
			diag "Slurm: waited in vain for $slurm_what"
			for slurm_log in "$slurm_dir"/*.out "$slurm_dir"/*.log; do
				[ -s "$slurm_log" ] || continue
				diag "${slurm_log##*/}:"
				diag_file "$slurm_log" 15
			done
			return 1
		fi
		sleep 0.2
	done
}

# slurm_stop: ends what slurm_start started, the node daemon first; step daemons that still run are
# its children's children and are found by the spool directory on their command line.
slurm_stop() {
	for slurm_pid in $slurm_pids; do
		kill -TERM "$slurm_pid" 2>/dev/null || continue
		slurm_left=50
		while kill -0 "$slurm_pid" 2>/dev/null && [ "$slurm_left" -gt 0 ]; do
			slurm_left=$((slurm_left - 1))
			sleep 0.1
		done
		kill -KILL "$slurm_pid" 2>/dev/null
		wait "$slurm_pid" 2>/dev/null
	done
	slurm_pids=
}
